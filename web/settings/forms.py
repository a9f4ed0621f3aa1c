"""The forms: what they take, and what they say when they cannot take it."""

from typing import Any, Final

from flask_wtf import FlaskForm
from wtforms import EmailField, HiddenField, PasswordField, SelectMultipleField, StringField
from wtforms.fields import RadioField
from wtforms.validators import DataRequired, EqualTo, InputRequired, Length, ValidationError

from warehouse.vocabulary import SCOPES
from web.expiry import end_of_day
from web.keys import GRACES
from web.members import passwords
from web.settings.pages import now

GRACE_LABELS: Final = {
    "now": "Not at all: it stops now",
    "1h": "One more hour",
    "24h": "24 more hours",
    "7d": "Seven more days",
}


def _stripped(text: str | None) -> str:
    return (text or "").strip()


class ExpiryField(StringField):
    """A UTC day, or nothing; `instant` is the end of that day, None without one."""

    instant: int | None = None

    def pre_validate(self, form: Any) -> None:
        self.instant = None
        if not self.data:
            return
        try:
            self.instant = end_of_day(self.data)
        except ValueError:
            raise ValidationError("Write the day as YYYY-MM-DD.") from None
        if self.instant <= now():
            raise ValidationError("Choose a day that is not over yet.")


class SignInForm(FlaskForm):
    email = EmailField(
        "E-mail address",
        filters=[_stripped],
        validators=[DataRequired("Enter your e-mail address."), Length(max=254)],
    )
    password = PasswordField(
        "Password", validators=[InputRequired("Enter your password."), Length(max=4096)]
    )


class PasswordForm(FlaskForm):
    """`email` is whose password it is."""

    email = ""
    password = PasswordField("New password", validators=[InputRequired("Enter a password.")])
    again = PasswordField(
        "The same again",
        validators=[EqualTo("password", "The two passwords are not the same.")],
    )

    def validate_password(self, field: PasswordField) -> None:
        objection = passwords.objection(field.data or "", self.email)
        if objection:
            raise ValidationError(objection)


class MintForm(FlaskForm):
    name = StringField(
        "Name",
        filters=[_stripped],
        validators=[
            DataRequired("Give the key a name, so that you know it again."),
            Length(max=100, message="Use at most 100 characters."),
        ],
    )
    scopes = SelectMultipleField(
        "Scopes",
        choices=list(SCOPES),
        validators=[DataRequired("Choose at least one scope.")],
    )
    expires = ExpiryField("Last day", filters=[_stripped])
    # Makes the same form, sent twice, mint once.
    once = HiddenField(validators=[DataRequired(), Length(max=100)])

    def validate_name(self, field: StringField) -> None:
        if not str(field.data).isprintable():
            raise ValidationError("Use letters that can be seen.")


class RotateForm(FlaskForm):
    grace = RadioField(
        "How long should the old key go on working?",
        choices=list(GRACES),
        default="24h",
        validators=[InputRequired("Choose one.")],
    )
    expires = ExpiryField("Last day of the new key", filters=[_stripped])
