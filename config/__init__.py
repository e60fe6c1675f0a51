"""How this installation of Milepost is put together: settings, addresses, sign-in, health."""
