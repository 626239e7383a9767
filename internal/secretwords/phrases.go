package secretwords

// The lists have one line for each language or so. A phrase is written as people write it;
// between its words may be anything or nothing, and an s, digits or another case at its end
// make no difference; ä, ö and ü are also found as ae, oe and ue. "word*" is also the beginning of longer words, and "*word*" any part of
// them, for languages that join or inflect their words.

// secrets are what nobody gives to a form, whatever else the text says.
var secrets = list(`
	*password*, *passwd*, *passphrase*, *passcode*, pass word, pass phrase, pass code, pw, pwd, login key
	api key, *apikey*, private key, *privatekey*, secret key, *secretkey*, access key, *accesskey*, signing key, encryption key, account key, ssh key, deploy key, license key
	access token, *accesstoken*, refresh token, auth token, api token, bearer token, session token, id token, client secret, *clientsecret*, app secret, webhook secret, session cookie, session id
	personal access token, github pat, gitlab pat, bankid kod, bankid code, bot token, recovery code, backup code, security code, verification code, authentication code, authenticator code, login code, sign in code, one time code, one time password, two factor code, 2fa code, mfa code, sms code, auth code, otp code, unlock code
	card number, credit card, debit card, card verification, cvv, cvc, cvv2, pin code, pin number, card pin, bank pin, social security, ssn, atm pin
	seed phrase, recovery phrase, secret phrase, mnemonic phrase, backup phrase, wallet words, seed words, recovery words, recovery key, master key
	the 12 words, the 24 words, the twelve words, your 12 words, your 24 words, all 24 words, die 12 Wörter, die 24 Wörter, les 12 mots, les 24 mots, las 12 palabras, las 24 palabras, as 12 palavras, as 24 palavras, le 12 parole, le 24 parole, 12 słów, 24 słowa
	unlocks your phone, unlocks your device, unlocks your screen, aws credentials
	id rsa, id ed25519, id ecdsa, id dsa, ssh private, begin private key, begin openssh, begin rsa
	beam open, sign in link, login link, magic link, sign in address, login url, sign in url, link we emailed, link in the email, link from the email, sign in code
	security answer, security question, secret answer, mother's maiden name

	*passwort*, *kennwort*, *losungswort*, Geheimzahl, *kreditkarte*, kartennummer, kartenprüfnummer, prüfnummer, *wiederherstellungsschlüssel*, prüfziffer der karte, *zugangsdaten*, *zugangscode*, *anmeldecode*, *logincode*, *freischaltcode*, *geheimfrage*, *sicherheitsfrage*, *entsperrcode*, Link zum Anmelden, *bestätigungscode*, *sicherheitscode*, *einmalcode*, Einmal Code, Einmalkennwort, *wiederherstellungscode*, *privater schlüssel*, *privaten schlüssel*, *privatschlüssel*, geheimer schlüssel, geheimen schlüssel, API Schlüssel, *zugriffsschlüssel*, *zugriffstoken*, *seedphrase*, Wiederherstellungsphrase, Wiederherstellungswörter, *freigabecode*, SMS Code, pin nummer, anmeldelink
	mot de passe, mots de passe, mdp, phrase secrète, phrase de passe, phrase de récupération, code secret, code confidentiel, code de vérification, code de sécurité, code à usage unique, code de confirmation, code reçu par, code d'authentification, carte bancaire, carte de crédit, numéro de carte, cryptogramme, clé privée, clé secrète, clé d'accès, clé api, clef privée, clef api, jeton d'accès, jeton api, identifiants de connexion, numéro de sécurité sociale, lien de connexion, lien d'accès
	contraseña*, clave secreta, clave privada, clave de acceso, clave api, clave de api, tarjeta de crédito, tarjeta de débito, número de tarjeta, número de la tarjeta, código de verificación, código de seguridad, código de un solo uso, código de acceso, código sms, código de confirmación, frase semilla, frase de recuperación, palabras de recuperación, token de acceso, código secreto, llave privada, enlace de inicio de sesión, enlace de acceso, clave del banco, clave banco, tu clave, clave wifi, clave del wifi
	senha*, palavra passe, chave privada, chave secreta, chave de api, chave api, chave de acesso, cartão de crédito, cartão de débito, número do cartão, código de verificação, código de segurança, código de uso único, código de acesso, código de confirmação, frase de recuperação, frase semente, token de acesso, palavras de recuperação, código sms, link de acesso
	parola d'ordine, parola chiave segreta, codice segreto, codice di verifica, codice di sicurezza, codice monouso, codice di accesso, codice sms, codice di conferma, chiave privata, chiave segreta, chiave api, chiave di accesso, carta di credito, carta di debito, numero di carta, numero della carta, frase di recupero, frase seme, token di accesso, parole di recupero, credenziali, link di accesso, link per accedere
	*wachtwoord*, geheime code, geheime sleutel, *privésleutel*, privé sleutel, API sleutel, *toegangscode*, *toegangstoken*, *creditcard*, *kaartnummer*, *beveiligingscode*, *verificatiecode*, eenmalige code, pincode, *herstelzin*, *herstelcode*, *inloglink*
	*пароль*, *пароля*, *паролю*, *паролем*, *пароли*, *паролей*, код подтвержден*, код из смс, код из sms, смс код, одноразовый код*, одноразовые код*, одноразового код*, проверочный код, проверочного код, секретный ключ*, секретного ключ*, секретная ключ*, секретную ключ*, секретное ключ*, приватный ключ*, приватного ключ*, закрытый ключ*, закрытого ключ*, ключ api, ключа api, api ключ*, номер карты, номера карты, номер банковской карты, номера банковской карты, кредитная карт*, кредитной карт*, сид фраз*, seed фраз*, мнемонич*, секретный фраз*, секретного фраз*, секретная фраз*, секретную фраз*, секретное фраз*, секретный слов*, секретного слов*, секретная слов*, секретную слов*, секретное слов*, пин код*, кодовое слов*, токен доступа, код безопасности, ссылка для входа, ссылку для входа
	*密码*, *密碼*, *口令*, *验证码*, *驗證碼*, *校验码*, *动态码*, *信用卡*, *银行卡号*, *卡号*, *卡號*, *私钥*, *私鑰*, *助记词*, *助記詞*, *密钥*, *金鑰*, *密鑰*, *令牌*, *安全码*, *恢复短语*, *登录链接*
	*パスワード*, *パスフレーズ*, *パスコード*, *暗証番号*, *秘密鍵*, *認証コード*, *確認コード*, *ワンタイム*, *クレジットカード*, *カード番号*, *セキュリティコード*, *apiキー*, *アクセストークン*, *アクセスキー*, *シードフレーズ*, *復元フレーズ*, *リカバリーフレーズ*, *シークレットキー*, *合言葉*, *ログイン用*, *ログインリンク*, *秘密の質問*, *暗証コード*
	*비밀번호*, *암호를*, *인증번호*, *인증코드*, *인증 코드*, *신용카드*, *카드번호*, *카드 번호*, *개인키*, *개인 키*, *비밀키*, *비밀 키*, *api 키*, *복구 구문*, *시드 구문*, *니모닉*, *액세스 토큰*, *보안코드*, *일회용*
	*كلمة المرور*, *كلمه المرور*, *كلمة السر*, *كلمة مرور*, *رمز التحقق*, *رمز التاكيد*, *رمز التأكيد*, *الرقم السري*, *الرمز السري*, *رمز الامان*, *رمز الأمان*, *رقم البطاقة*, *بطاقة الائتمان*, *بطاقتك الائتمانية*, *المفتاح الخاص*, *مفتاحك الخاص*, *المفتاح السري*, *مفتاح api*, *العبارة السرية*, *عبارة سرية*, *خلف بطاقت*, *ظهر البطاقة*, *عبارة الاسترداد*, *عبارة الاستعادة*, *رمز الوصول*
	*סיסמה*, *סיסמא*, *סיסמת*, קוד אימות, קוד סודי, מפתח פרטי, כרטיס אשראי, *पासवर्ड*, *ओटीपी*, पिन नंबर, *गुप्त कोड*, *सत्यापन कोड*, *क्रेडिट कार्ड*, *निजी कुंजी*, *รหัสผ่าน*, *บัตรเครดิต*
	*hasło*, hasła, hasłem, *heslo*, hesla, *lösenord*, *adgangskode*, *passord*, *salasana*, *jelszó*, *jelszav*, şifre*, parolanız*, parola ta, kata sandi, mật khẩu, mã xác minh, mã xác nhận, doğrulama kodu, kod weryfikacyjny, kod jednorazowy, jednorazowy kod, kod z SMS, klucz prywatny, klucza prywatnego, klucz API, klucza API, link do logowania, numer karty, özel anahtar, κωδικός πρόσβασης, κωδικό πρόσβασης, kode verifikasi, engångskod, kredi kartı

	parol, parolya, odnorazovy kod, odnorazovyi kod, odnorazovyj kod, sekretnaya fraza, sekretny klyuch, sekretnyi klyuch, privatny klyuch, privatnyi klyuch, zakryty klyuch, zakrytyi klyuch, kod iz sms, nomer karty
	mima, yanzhengma, siyao, zhujici, miyao, pasuwado, ansho bango, anshou bangou, ninsho kodo, himitsu kagi, himitsukagi
`)

// named are words that mean a secret as the name of a field for text, or in a text that asks
// for one of the reader's own, as in "your token".
var named = list(`
	token, tokens, secret, secrets, credential, credentials, bearer, otp, totp, mfa, 2fa, tan, pin, puk, mnemonic, keystore, keyfile, pem, cookie, creds, kubeconfig, netrc
	Geheimnis*, TAN, Zugangsschlüssel, jeton, secreto, segredo, segreto, geheim, токен*, секрет*, *トークン*, *シークレット*, *토큰*, *시크릿*, *الرمز*, الرمز المميز, PIN, ПИН
`)

// yours are words with which a text asks for what is the reader's own, or for a copy of it.
var yours = list(`
	your, my, paste, copy
	Ihr*, dein*, mein*, füge ein, fügen ein, fügt ein, einfügen, eingeben, geben sie, votre, vos, ton, tes, mon, colle*, tu, tus, su, mi, pega*, pegue, copia*, seu*, sua*, teu*, meu*, cole, cola, il tuo, la tua, tua, tuo, i tuoi, suo, incolla*, uw, je, jouw, plak*, wklej*, twój, twoje, twojego
	ваш*, твой, твоего, мой, вставь*, *输入*, *入力*, *教えて*, *你的*, *您的*, *粘贴*, *あなたの*, *貼り付け*, *당신의*, *귀하의*, *붙여*, *الخاص بك*, *الصق*
`)

// asks are words with which a text asks for what is named near them.
var asks = list(`
	enter, type, provide, tell me, give me, send me, read me, what is, gib, nenne*, tippe, tippen, eintragen, donne*, saisi*, entrez, tapez, introduc*, escrib*, ingres*, dime, digite, informe, insira, inserisci, scrivi, digita, podaj*, wpisz*, введи*, продиктуй*, пришлите
`)

// things are secrets if they come from where sources say.
var things = list(`
	number, numbers, words, phrase, word, key, keys, link, url, address, contents, content, file, string, characters, value
	Zahl*, Wörter*, Worte, Schlüssel*, Link, Adresse, Inhalt, Datei
	nombre*, mots, clé, clef, lien, adresse, contenu, fichier
	palabra*, clave, enlace, contenido, número*, archivo, frase, llave
	palavra*, chave, conteúdo, link, arquivo
	parole, chiave, contenuto, numero
	woord*, sleutel, getal, inhoud
	słowa, słów, klucz*, zawartość, plik
	слов*, ключ*, ссылк*, содержим*, файл*, фраз*, число
	*单词*, *链接*, *内容*, *号码*, *単語*, *キー*, *リンク*, *フレーズ*, *番号*, *번호*, *단어*, *내용*, *링크*, *كلمة*, *كلمات*, *مفتاح*, *رابط*, *محتوى*
`)

// codes are such things too, and are secrets already if they were sent.
var codes = list(`
	code, codes, digit, digits, passkey, pin, secret, token
	Code*, Ziffer*, *stellig*, chiffre*, código*, dígito*, cifra*, codice, codici, cifre, cijfer*, kod, kodu, kody, cyfr*
	код*, цифр*, *数字*, *位数*, *代码*, *コード*, *桁*, *코드*, *숫자*, *자리*, *رمز*, *ارقام*, *أرقام*, *الأرقام*, *अंक*, *कोड*
`)

// sources are where secrets come from.
var sources = list(`
	texted, text message, sms, by text, one time, onetime, single use, authenticator, two factor, 2 factor, 2fa, mfa, wallet, metamask, ledger, seed, ssh, dotenv, env file, netrc, keychain, kubeconfig, arquivo env, archivo env, fichier env, env Datei, id rsa, sent to your phone, sent to your email, sent to your mobile, from your phone, app shows, back of your card, back of the card, security app, banking app, bank sent, bank texted, whatsapp message, gpg, pgp, keyfob, key fob
	per SMS, Authentifizierung*, Authenticator, Brieftasche, Wallet, Handy geschickt, Kartenrückseite, Rückseite, einmalig*
	par SMS, portefeuille, usage unique, authentification*, au dos
	por SMS, mensaje de texto, al móvil, a tu móvil, a su móvil, al teléfono, billetera, monedero, cartera cripto, un solo uso, autenticación*, reverso
	autenticação, carteira, uso único, verso do cartão
	autenticazione, via SMS, portafoglio, monouso, retro della carta
	via sms, eenmalig*, achterkant van
	z SMS, jednorazow*, portfela, na telefon, na Twój telefon, tyłu karty, odwrocie karty
	смс, в sms, кошельк*, одноразов*, аутентификатор*, из сообщения, на обороте
	*短信*, *钱包*, *錢包*, *手机*, *一次性*, *验证器*, *两步验证*, *双重验证*, *二段階認証*, *2段階認証*, *背面*, *SMSで*, *ウォレット*, *認証アプリ*, *裏面*, *ショートメッセージ*, *문자로*, *문자 메시지*, *지갑*, *인증 앱*, *뒷면*, *SMS로*, *رسالة نصية*, *محفظ*, *هاتفك*, *مرة واحدة*, *एसएमएस*
`)

// sent says that a code came from somewhere. Numbers of orders and links to articles do too.
var sent = list(`
	sent you, sent it to, we sent, we just sent, emailed, mailed, in the email, from the email, in your email, from your email, your app
	aus der Mail, aus der E-Mail, in der Mail, in der E-Mail, in deiner App, in Ihrer App, dans l'e-mail, votre application, llegó, del correo, tu app, chegou, do e-mail, seu app, arrivato, dall'email, tua app, z maila, z aplikacji
	gesendet, geschickt, gesandt, envoyé*, reçu*, enviado, enviamos, hemos enviado, enviado por, recebeu, recebido, inviato, ricevuto, gestuurd, verzonden, wysłaliśmy, wysłany, otrzyman*
	из письма, из приложения, отправил*, прислал*, пришедш*, пришёл, пришло, *邮件*, *メール*, *发送*, *發送*, *收到*, *送信*, *送られ*, *届いた*, *보낸*, *전송*, *발송*, *ارسلنا*, *أرسلنا*, *المرسل*, *भेजा*
`)

// aspects of a secret are none, if they follow it: those of "password" or "token".
var aspects = list(`
	length, policy, strength, manager, expiry, lifetime, rotation, rules, limit, budget, count, usage, path, color, colour, symbol
	bug, page, flow, reset bug, reset page, reset flow, reset email, banner, recipe, brand, fees, offers
`)

// harmless phrases are left out before anything is looked for.
var harmless = list(`
	design token, max tokens, maximum tokens, max output tokens, min tokens, number of tokens, how many tokens, token type, token name, name of the token, name of a token, token address, total tokens, prompt tokens, tokens per, input tokens, output tokens, token id, nft token, css token, color token, lexer token, stop token, token kind
	password hint, password field, forgot password page
	secret santa, secret name, name of the secret, name of a secret, trade secret, secret sauce, secret ingredient, secret garden, top secret project, secret service
	public key, key account, primary key, foreign key, partition key, sort key, cache key, object key, translation key, musical key, key findings, public ssh key, id rsa pub, id ed25519 pub, key signature, map key, issue key, project key
	postal code, zip code, post code, country code, area code, error code, status code, exit code, source code, qr code, promo code, promotion code, discount code, coupon code, voucher code, gift code, language code, currency code, color code, dress code, code review, code style, product code, airport code, code of conduct, bar code, http code, booking code, reference code, tax code, dialing code, course code, city code, code name, code block, morse code, invite code, referral code
	credit card type, type of credit card, last four digits, last 4 digits, credit card payment, pay by credit card
	cookies to bake, fortune cookie, number of cookies, how many cookies, to pin, i pin, pin a, pin it, pin message, bowling pin, map pin, drop pin, pin board, pushpin, cotter pin, pin header, gpio pin, reset pin label, seed money, seed value, random seed, seed round, wallet size, wallet color
	Name des Tokens, Anzahl der Tokens, Anzahl Tokens, Kennwortlänge, Passwortlänge, Passwortrichtlinie, Passwortmanager, öffentlicher Schlüssel, öffentlichen Schlüssel, Kreditkartentyp, Kreditkarteninstitut, Rabattcode, Quellcode, Fehlercode, Ländercode
	nombre de jetons, nom du jeton, clé publique, clé primaire, code postal, code promo, code source, code pays, code erreur, longueur du mot de passe, politique de mot de passe, gestionnaire de mots de passe, type de carte de crédit
	número de tokens, cantidad de tokens, clave pública, clave primaria, código postal, código fuente, código de país, código de error, código promocional, código de descuento, longitud de la contraseña, gestor de contraseñas, tipo de tarjeta de crédito, tarjeta de visita, tarjetas de visita, palabra clave, palabras clave
	chave pública, chave primária, código fonte, palavra chave, palavras chave, código promocional, comprimento da senha, gerenciador de senhas
	chiave pubblica, chiave primaria, parola chiave, parole chiave, codice fiscale, codice postale, codice sconto, codice sorgente, numero di token, lunghezza della password
	publieke sleutel, kortingscode, broncode, landcode, wachtwoordlengte, aantal tokens
	hasło reklamowe, klucz publiczny, kod pocztowy, kod kraju, kod rabatowy, kod produktu, kod źródłowy, kod błędu
	количество токенов, число токенов, длина пароля, публичный ключ*, публичного ключ*, открытый ключ*, открытого ключ*, ключевое слов*, ключевые слов*, ключевых слов*, почтовый код, исходный код, код страны, код ошибки, менеджер паролей
	*密码长度*, *密码管理器*, *密码策略*, *公钥*, *关键词*, *邮政编码*, *令牌数*, *源代码*, *国家代码*, *信用卡类型*, *错误代码*
	*パスワードの長さ*, *パスワードマネージャー*, *公開鍵*, *トークン数*, *キーワード*, *郵便番号*, *エラーコード*, *ソースコード*, *国コード*, *クレジットカードの種類*
	*비밀번호 길이*, *비밀번호 관리자*, *공개키*, *공개 키*, *토큰 수*, *키워드*, *우편번호*, *소스 코드*, *국가 코드*, *오류 코드*
	*المفتاح العام*, *الرمز البريدي*, *رمز البلد*, *رمز الدولة*, *رمز الخطأ*, *طول كلمة المرور*, *كلمات مفتاحية*, *الكلمات المفتاحية*, *عدد الرموز*
`)
