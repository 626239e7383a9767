package secretwords_test

import (
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/secretwords"
)

// Examples of names of fields for text, and of messages and descriptions, in ten languages.
const (
	stoppedNames = `password, newpassword, userPassword, user_password, pass-word, PASSWORD2, p@ssw0rd, Pаsswоrd, pass` + "\u200b" + `word, dbPwd
apiKey, API Key, openai-api-key, x.api.key, SSHPrivateKey, clientSecret, accessToken, JWTToken, oauth2Token, GitHub token, token, otp, OTP code, PIN, One-time code, one_time_code, oneTimeCode, verificationCode, Backup codes, cardNumber, Card number, CVV, SSN, seedPhrase, Login link
Passwort, Ihr Kennwort, Einmalcode, Kreditkartennummer, privater Schlüssel, Bestätigungscode, Zugangsdaten
Mot de passe, code de vérification, Numéro de carte, Clé privée, Clé API
Contraseña, contrasena, código de verificación, Tarjeta de crédito, clave privada
Senha, Palavra-passe, código de segurança, Chave privada
Codice di verifica, Carta di credito, chiave privata, Parola d'ordine
Пароль, Введите пароль, код из СМС, номер карты, приватный ключ, токен доступа
密码, 短信验证码, 银行卡号, 助记词, 私钥
パスワード, 認証コード, カード番号, 秘密鍵
비밀번호, 인증번호, 카드 번호, 개인키
كلمة المرور, رمز التحقق, رقم البطاقة, المفتاح الخاص`
	passedNames = `Name of the design token, designToken, token type, tokenLimit, Max tokens, name, email, key, keyboard, hotkey, primaryKey, public_key, Public SSH key, passport, passenger, compass, secretary, Secret Santa budget, pinned, spinner, opinion, Postal code, zipCode, countryCode, promoCode, errorCode, QR code, sourceCode, discard number, card, compass words, monkey, tokenize, assn, code
Name, Postleitzahl, Ländercode, Fehlercode, öffentlicher Schlüssel, Passform, Reisepass, Karte, Anzahl der Tokens, Schlüsselbund Farbe
Nom, Code postal, Code promo, Clé publique, Carte de visite, Mot préféré, numéro de commande
Nombre, Código postal, Palabra clave, Clave primaria, Código de país, Carta
Nome, Código fonte, Palavra-chave, chave primária, cartão de visita
Codice fiscale, Codice postale, Parola chiave, Carta d'identità, parola
Имя, Почтовый код, Ключевые слова, Код страны, Открытый ключ, Карта
姓名, 邮政编码, 关键词, 公钥, 颜色, 卡片
名前, 郵便番号, キーワード, 公開鍵, カード
이름, 우편번호, 키워드, 공개키, 카드
الاسم, الرمز البريدي, رمز البلد, المفتاح العام, بطاقة`
	stoppedTexts = `Enter the 6 digits we texted you
the twelve words of your wallet
Type the twelve words of your wallet, in order
Paste the contents of ~/.ssh/id_ed25519
Paste the contents of your .ssh/id_rsa file
Paste the link that ` + "`beam open`" + ` printed
What is your password?
Please paste your GitHub token
Enter the code that the authenticator app shows
The number on the back of your card
Copy your credentials here
Geben Sie die 6 Ziffern ein, die wir Ihnen per SMS geschickt haben
Die zwölf Wörter Ihrer Wallet
Bitte Ihr Token einfügen
Saisissez le code reçu par SMS
Collez le contenu de ~/.ssh/id_ed25519
Les douze mots de votre portefeuille
Introduce los 6 dígitos que te hemos enviado por SMS
Las doce palabras de tu billetera
Digite os 6 dígitos que enviamos por SMS
As doze palavras da sua carteira
Inserisci le 6 cifre che abbiamo inviato via SMS
Le dodici parole del tuo portafoglio
Введите 6 цифр, которые мы прислали в SMS
Двенадцать слов вашего кошелька
请输入我们发送到您手机的6位数字
您钱包的十二个单词
SMSで届いた6桁の数字を入力してください
ウォレットの12個の単語
문자로 보낸 6자리 숫자를 입력하세요
지갑의 단어 12개를 입력하세요
أدخل الأرقام الستة التي أرسلناها إلى هاتفك
كلمات محفظتك الاثنتا عشرة`
	passedTexts = `What is the name of the design token?
How many tokens may the model use?
Which issue shall be created about token parsing?
Enter the postal code of your address
What is your favorite color?
Paste your public key (id_ed25519.pub)
The number of digits after the point
Describe the error code and the link to the page
How many words should the summary have?
Which key is the song in?
Who gives to whom in the Secret Santa?
The file that your report is about
Wie viele Wörter soll die Zusammenfassung haben?
Welcher Ländercode steht auf dem Paket?
Wie lautet die Adresse Ihrer Firma?
Combien de mots doit avoir le résumé ?
Quel est votre code postal ?
¿Cuántas palabras debe tener el resumen?
¿Cuál es su código postal?
Quantas palavras deve ter o resumo?
Qual é a palavra-chave do artigo?
Quante parole deve avere il riassunto?
Qual è il tuo codice fiscale?
Сколько слов должно быть в тексте?
Какой у вас почтовый код?
摘要应该有多少字?
您最喜欢的颜色是什么?
要約は何文字にしますか?
好きな色は何ですか?
요약은 몇 단어로 할까요?
좋아하는 색은 무엇인가요?
كم عدد الكلمات في الملخص؟
ما هو لونك المفضل؟`
)

func examples(list string) []string {
	var all []string
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == '\n' || r == ',' && strings.Count(list, ",") > 30 }) {
		all = append(all, strings.TrimSpace(item))
	}
	return all
}

func TestExamples(t *testing.T) {
	inName := func(s string) string { return secretwords.InName(s, true) }
	for _, c := range []struct {
		list string
		find func(string) string
		stop bool
	}{{stoppedNames, inName, true}, {passedNames, inName, false}, {stoppedTexts, secretwords.InText, true}, {passedTexts, secretwords.InText, false}} {
		for _, s := range examples(c.list) {
			if word := c.find(s); (word != "") != c.stop {
				t.Errorf("%q is stopped for %q, and want %v", s, word, c.stop)
			}
		}
	}
}

// Who doesn't want to be understood can't hide a secret behind what is harmless.
func TestHarmlessWordsHideNothing(t *testing.T) {
	for _, s := range []string{"design token, or your password", "The public key's private key", "postal code or one-time code", "Paste your token: type it here", "Your token\ncount on us", "Your PIN. Page 2", "Paste the password reset link", "p a s s w o r d", "PaSsWoRd", "ｐａｓｓｗｏｒｄ", "pass\u00adword", strings.Repeat("x ", 1000) + "password"} {
		if secretwords.InText(s) == "" {
			t.Errorf("%q passes", s)
		}
	}
}

// A text that warns of entering a secret asks for none, unless it also asks for one.
func TestWarnings(t *testing.T) {
	for s, stopped := range map[string]bool{
		"Your favorite integer (do not give us your phone number, pin, or other sensitive info)": false,
		"What went wrong? Never share your password.":                                            false,
		"Don't enter your PIN here; we never ask for it":                                         false,
		"Don't forget to enter your password":                                                    true,
		"Do not give us anything but your PIN":                                                   true,
		"Never share your password: enter your password here":                                    true,
		"Do not send your password by mail and type your password here":                          true,
	} {
		if word := secretwords.InText(s); (word != "") != stopped {
			t.Errorf("%q: found %q", s, word)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("design token password\xff")
	f.Fuzz(func(t *testing.T, s string) {
		secretwords.InText(s)
		secretwords.InName(s, true)
	})
}
