package upstream

import (
	"strings"
	"unicode"

	"github.com/photon-beam/beam/internal/cleantext"
)

// The words that name secrets, without the spaces between their parts and as
// [cleantext.Skeleton] returns them. Package ask has those for forms of photons; here are
// those of servers that may not want to be understood.
var (
	// unmistakable words mean a secret in any text.
	unmistakable = skeletonSet(
		"password", "passwd", "passphrase", "passcode", "api key", "private key", "secret key", "access key", "access token",
		"refresh token", "client secret", "credit card", "card number", "cvv", "cvc", "pin code", "social security", "seed phrase", "recovery phrase",
		"Passwort", "Kennwort", "Kreditkarte", "Kreditkartennummer", "Geheimzahl", "mot de passe", "code secret", "carte bancaire", "carte de crédit",
		"contraseña", "clave secreta", "tarjeta de crédito", "senha", "palavra-passe", "cartão de crédito", "parola d'ordine", "codice segreto", "carta di credito",
		"wachtwoord", "creditcard", "hasło", "heslo", "lösenord", "adgangskode", "passord", "salasana", "jelszó", "şifre", "parolă", "kata sandi", "mật khẩu",
	)
	// named words mean a secret if they name a field for text.
	named = skeletonSet("pwd", "ssn", "secret", "token", "credential", "bearer", "auth token", "pin number")
	// unspaced words are found within others: those of scripts without spaces or with
	// inflections, and those that nothing else contains.
	unspaced = skeletons(
		"password", "passwort", "passphrase", "apikey", "privatekey", "secretkey", "accesstoken", "clientsecret", "motdepasse", "contrasena", "wachtwoord",
		"пароль", "пароля", "κωδικός πρόσβασης", "密码", "密碼", "口令", "信用卡", "私钥", "私鑰", "パスワード", "暗証番号", "秘密鍵", "비밀번호",
		"كلمة المرور", "كلمة السر", "סיסמה", "סיסמא", "पासवर्ड", "รหัสผ่าน",
	)
)

// maxSecretWord is the length in bytes of the longest of these words.
const maxSecretWord = 32

func skeletons(words ...string) []string {
	for i, w := range words {
		words[i] = cleantext.Skeleton(w)
	}
	return words
}

func skeletonSet(words ...string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range skeletons(words...) {
		all[strings.Join(splitWords(w), "")] = true
	}
	return all
}

// splitWords returns the parts of a text that are letters or digits.
func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// namesSecret reports whether the name or title of a field names a secret, however it is
// written: with spaces, digits in place of letters, or letters of other alphabets.
func namesSecret(name string, isText bool) bool {
	return mentionsSecret(name) || mentionsSecret(withoutDigits.Replace(name)) || isText && containsWord(cleantext.Skeleton(name), named)
}

// withoutDigits replaces what stands for letters in "p@ssw0rd".
var withoutDigits = strings.NewReplacer("0", "o", "1", "l", "3", "e", "4", "a", "5", "s", "@", "a", "$", "s")

// mentionsSecret reports whether a text has a word that means a secret.
func mentionsSecret(text string) bool {
	text = cleantext.Skeleton(text)
	for _, w := range unspaced {
		if strings.Contains(text, w) {
			return true
		}
	}
	return containsWord(text, unmistakable)
}

// containsWord reports whether one or several words of a text together are one of the set,
// as in "pass word", or its plural.
func containsWord(text string, set map[string]bool) bool {
	words := splitWords(text)
	for i := range words {
		joined := ""
		for _, w := range words[i:] {
			if joined += w; len(joined) > maxSecretWord {
				break
			}
			if set[joined] || set[strings.TrimSuffix(joined, "s")] || set[strings.TrimRight(joined, "0123456789")] {
				return true
			}
		}
	}
	return false
}
