"""The reasons for suspecting a message, each with its weight; read them, they are the whole judge."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a message looks like spam (or, below zero, like a friend's), and what that weighs."""

    name: str
    points: int
    says: str
    pattern: str = ""
    exact_case: bool = False
    test: Callable[[str], bool] | None = None

    def holds(self, text: str) -> bool:
        return self.test(text) if self.test else self._compiled.search(text) is not None

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, 0 if self.exact_case else re.IGNORECASE)


def _shouts(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters)
    return len(letters) >= 20 and 0.2 < capitals / len(letters) < 0.8


def _is_full_of_digits(text: str) -> bool:
    return sum(letter.isdigit() for letter in text) >= 8


REASONS: Final = (
    Reason(
        name="premium_number",
        points=8,
        says="gives a premium-rate or free-phone number",
        pattern=r"(?<!\d)0[789]\d{2}[ .-]?\d{2,3}[ .-]?\d{2,4}",
    ),
    Reason(
        name="short_code",
        points=6,
        says="sends the reader to a short code",
        pattern=r"\b(?:to|on|no:?|from)\s*:?\s*\d{4,6}\b|\b8\d{4}\b",
    ),
    Reason(
        name="price_tag",
        points=6,
        says="states a price per message, call or minute",
        pattern=(
            r"\d{1,5}\s?pp?m\b|\d{1,5}\s?p\s?(?:/|per|a)\s?(?:min|msg|txt|text|call|day|wk|week)"
            r"|(?:£|gbp)\s?\d[\d.,]{0,9}\s?(?:/|per|a|ea)\s?(?:min|msg|wk|week|month|mth|txt|text)"
            r"|\d{2,3}pp?\b|costs?\s?£?\d|\bgbp\s?/\s?sms"
        ),
    ),
    Reason(
        name="money",
        points=4,
        says="names a sum of money",
        pattern=r"[£$€#]\s?\d|\d\s?(?:gbp|pounds?|quid)\b|(?:gbp)\s?\d",
    ),
    Reason(
        name="prize",
        points=5,
        says="speaks of a prize, an award or winning",
        pattern=(
            r"\b(?:prizes?|awarded|award|winners?|won|voucher|vouchers|jackpot|lottery|draw|bonus"
            r"|guaranteed|selected|reward|congrat\w*|entitled|complimentary)\b"
        ),
    ),
    Reason(
        name="call_to_action",
        points=4,
        says="tells the reader to call, text or reply now",
        pattern=(
            r"\b(?:txt|text|reply|send|call)\b[^.!?]{0,25}\b(?:to|now|with|yes|stop|on|back)\b"
            r"|\bcall\b[^.!?]{0,30}\d{4}"
        ),
    ),
    Reason(
        name="keyword_to_send",
        points=6,
        says="tells the reader to send back a keyword in capitals",
        exact_case=True,
        pattern=(
            r"\b(?i:reply|txt|text|send|txting|texting|word)\b\W{1,5}"
            r"(?:(?i:to|with|the|a|your)\W{1,5}){0,3}[A-Z]{3,}\b"
        ),
    ),
    Reason(
        name="claim",
        points=5,
        says="asks to claim, collect, redeem or subscribe",
        pattern=(
            r"\b(?:claim|collection|collect|redeem\w*|unredeemed|un-redeemed|subscri\w*|unsub\w*"
            r"|opt[ -]?out|activate|expires?)\b"
        ),
    ),
    Reason(
        name="urgent",
        points=3,
        says="presses for time",
        pattern=(
            r"\b(?:urgent|immediately|final (?:notice|attempt)|last chance|valid \d+|today only"
            r"|limited|2nd attempt|important (?:info\w*|message))\b"
        ),
    ),
    Reason(
        name="free_offer",
        points=3,
        says="offers something free",
        pattern=r"\bfree\b(?!\s+(?:now|tomorrow|today|tonight|time|2|to|at|on|in)\b)",
    ),
    Reason(
        name="stop_line",
        points=6,
        says="carries an unsubscribe line",
        pattern=r"\bstop\b\W+(?:to|2|txt|text|sms)|(?:txt|text|send|reply|2)\W*stop\b",
    ),
    Reason(
        name="terms",
        points=6,
        says="refers to terms, an age limit or a post box",
        pattern=(
            r"\bt(?:'?s)?\s?&\s?c|\bterms\b|\b(?:18|16)\s?\+|\b18\s?(?:yrs|only)|\bpo\s?box\b|\bsae\b"
        ),
    ),
    Reason(
        name="link",
        points=4,
        says="carries a web address",
        pattern=(
            r"https?:|www\.|\bwap\b|[a-z0-9-]{3,40}\.\s?(?:com|net|co\.uk|org|biz|tv|info|uk)\b"
        ),
    ),
    Reason(
        name="phone_goods",
        points=4,
        says="sells ringtones, handsets, chat or the like",
        pattern=(
            r"\b(?:ring\s?tones?|polyphonic|poly|mono|logos?|handset|camcorder|camera phone|nokia"
            r"|line rental|tarot|horoscope|quiz|trivia|hardcore|porn|xxx|chat ?line|dating"
            r"|voicemail|customer service|weekly|wkly)\b"
        ),
    ),
    Reason(
        name="adult",
        points=4,
        says="advertises adult chat",
        pattern=r"\b(?:sexy|sex|horny|flirt\w*|fantas(?:y|ies)|babes?|singles|live)\b",
    ),
    Reason(
        name="downloads",
        points=4,
        says="speaks of content, downloads, members or credits",
        pattern=(
            r"\b(?:content|downloads?|members?|credits?|wallpapers?|tones?|ringtones?|subscription"
            r"|renewal|videos?|games?|club|arcade|pics)\b"
        ),
    ),
    Reason(
        name="your_mobile",
        points=4,
        says="talks about the reader's own mobile or account",
        pattern=r"\b(?:your|ur|yr|yer)\s+(?:\w+\s+)?(?:mobile|mob|phone|fone|account|number)\b",
    ),
    Reason(
        name="click",
        points=3,
        says="asks to click or to go to a page",
        pattern=r"\b(?:click|go\s?2|goto|log ?on|link|visit|next (?:message|msg))\b",
    ),
    Reason(
        name="banner",
        points=5,
        says="opens like an advertisement",
        pattern=(
            r"^\W{0,9}(?:free\s?-?\s?(?:msg|message)|sms\b|private!|hot\b|win\b|reminder\b"
            r"|dear (?:\w{1,20} )?(?:holder|customer|subscriber|user))"
        ),
    ),
    Reason(
        name="personal",
        points=-4,
        says="sounds like a person writing to a friend",
        pattern=(
            r"\bi(?:'?m|'?ll|'?ve|'?d)\b"
            r"|\bi (?:am|was|have|don'?t|will|can|think|know|want|just|got|had)\b"
            r"|\b(?:lol|haha\w{0,9}|lor|lar|dun|gonna|wanna|coz|cos|sorry|love you|luv u|miss you)\b"
            r"|\bmy (?:mum|mom|dad|house|place|room)\b"
        ),
    ),
    Reason(
        name="shouting",
        points=2,
        says="mixes ordinary words with many capitals",
        test=_shouts,
    ),
    Reason(
        name="digits",
        points=3,
        says="holds eight digits or more",
        test=_is_full_of_digits,
    ),
)
