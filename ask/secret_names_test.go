package ask_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/photon-beam/beam/ask"
	"github.com/photon-beam/beam/internal/askdata"
	"github.com/photon-beam/beam/internal/asking"
)

// Fields whose names or titles say that they are secrets, in several spellings, are
// rejected in forms.
func TestSecretFieldsAreRejected(t *testing.T) {
	text, number := "string", "integer"
	refused := []struct{ kind, name string }{
		{text, "password"}, {text, "Password:"}, {text, "PASSWORD"}, {text, "userPassword"}, {text, "user_password"}, {text, "newpassword"},
		{text, "password2"}, {text, "passwords"}, {text, "pass-word"}, {text, "Passphrase"}, {text, "pass phrase"}, {text, "passwd"}, {text, "db_pwd"}, {text, "passcode"},
		{text, "apiKey"}, {text, "api_key"}, {text, "API key"}, {text, "APIKey"}, {text, "apikey"}, {text, "openai-api-key"}, {text, "apiKey1"}, {text, "x.api.key"},
		{text, "accessToken"}, {text, "access_token"}, {text, "JWTToken"}, {text, "token"}, {text, "tokens"}, {text, "oauth2Token"}, {text, "authtoken"}, {text, "Bearer"},
		{text, "clientSecret"}, {text, "secret"}, {text, "secretKey"}, {text, "private key"}, {text, "SSHPrivateKey"}, {text, "credentials"},
		{text, "Card number"}, {text, "cardNumber"}, {text, "cardnumber"}, {number, "card_number"}, {number, "creditCard"}, {text, "credit card no."},
		{number, "cvv"}, {number, "CVC"}, {text, "pin"}, {number, "PIN"}, {number, "pin code"}, {text, "pinCode"}, {text, "SSN"}, {text, "Social security number"},
	}
	for _, r := range refused {
		for _, f := range []askdata.Field{{Name: r.name, Type: r.kind}, {Name: "f", Title: r.name, Type: r.kind}} {
			err := asking.Policy{}.Admit(&askdata.Question{Kind: askdata.KindForm, Fields: askdata.Fields{{Name: "first", Type: text}, f}}, 0, 0)
			var policy *ask.PolicyError
			if !errors.As(err, &policy) || !strings.Contains(err.Error(), "use ask.Secret") || !strings.Contains(err.Error(), fmt.Sprintf("%q", f.Name)) {
				t.Errorf("%+v: %v", f, err)
			}
			if err := (asking.Policy{}).Admit(&askdata.Question{Kind: askdata.KindSecret, Fields: askdata.Fields{f}}, 0, 0); err != nil {
				t.Errorf("ask.Secret %q: %v", r.name, err)
			}
		}
	}
}

// Fields whose names only resemble those of secrets are allowed.
func TestOtherFieldsAreAllowed(t *testing.T) {
	for _, f := range []askdata.Field{
		{Name: "maxTokens", Type: "integer"}, {Name: "tokens", Type: "number"}, {Name: "max_tokens", Title: "Max tokens", Type: "integer"},
		{Name: "tokenize", Type: "boolean"}, {Name: "tokenize", Type: "string"}, {Name: "showPassword", Type: "boolean"}, {Name: "rememberToken", Type: "boolean"},
		{Name: "tokenType", Type: "string", Choices: askdata.Choices("bearer", "basic")},
		{Name: "monkey", Type: "string"}, {Name: "keyboard", Type: "string"}, {Name: "key", Type: "string"}, {Name: "hotkey", Type: "string"},
		{Name: "compass", Type: "string"}, {Name: "passage", Type: "string"}, {Name: "passenger", Type: "string"}, {Name: "passport", Type: "string"},
		{Name: "spinner", Type: "string"}, {Name: "pinned", Type: "string"}, {Name: "shipping", Type: "string"}, {Name: "opinion", Type: "string"},
		{Name: "secretary", Type: "string"}, {Name: "discard number", Type: "string"}, {Name: "card", Type: "string"}, {Name: "credit", Type: "number"},
		{Name: "assn", Type: "string"}, {Name: "lessness", Type: "string"}, {Name: "", Type: "string"}, {Name: "名前", Type: "string"}, {Name: "a\xff", Type: "string"}, {Name: "forbearers", Type: "string"},
	} {
		if err := (asking.Policy{}).Admit(&askdata.Question{Kind: askdata.KindForm, Fields: askdata.Fields{f}}, 0, 0); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

func TestSecretFieldIsNotAsked(t *testing.T) {
	d := Driver{Provider: ProviderFunc(func(context.Context, string, *askdata.Question) (askdata.Answer, error) {
		t.Error("the question was asked")
		return askdata.Answer{}, nil
	})}
	_, err := runAsk(t, d, ask.ForText("apiKey", "m").Ask)
	var policy *ask.PolicyError
	if !errors.As(err, &policy) || !strings.Contains(err.Error(), "ask.Secret") {
		t.Errorf("got %v", err)
	}
}
