package cleantext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/photon-beam/beam/internal/cleantext"
)

func TestTextMarksWhatNobodySees(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"Delete \u202etxt.terces\u202c?", "Delete ‹U+202E›txt.terces‹U+202C›?"},
		{"a\u2066b\u2069", "a‹U+2066›b‹U+2069›"},
		{"\ufeffa\x1b[31mred\x1b[0m\r\n", "ared\n"},
		{"\x1b]8;;http://evil\x1b\\x\a\x7f\u009b", "␛]8;;http://evil␛\\x␇␡‹U+009B›"},
		{"over\rwritten\b\b\u0085", "over␍written␈␈‹U+0085›"},
		{"\xff\u2028two\u2029", "\ufffd‹U+2028›two‹U+2029›"},
		{"pay\u200epal \u200f1 - 2\u061c", "pay‹U+200E›pal ‹U+200F›1 - 2‹U+061C›"},
		{"a\u2800b\u3164\u115f\u1160\uffa0c", "a‹U+2800›b‹U+3164›‹U+115F›‹U+1160›‹U+FFA0›c"},
		{"a\u200bb\u2060\u00ad\u034f\u2064\ufeffc", "a‹U+200B›b‹U+2060›‹U+00AD›‹U+034F›‹U+2064›‹U+FEFF›c"},
		{"al\u200dice b\u200cob", "al‹U+200D›ice b‹U+200C›ob"},
		{"a\U000e0041\U000e0001 b\ufe0f c\U000e0101 d\ufe01", "a‹U+E0041›‹U+E0001› b‹U+FE0F› c‹U+E0101› d‹U+FE01›"},
		{"🏴\U000e0075\U000e0073\U000e007f", "🏴‹U+E0075›‹U+E0073›‹U+E007F›"},
		{"❤\ufe0f\ufe0f", "❤\ufe0f‹U+FE0F›"},
		{"می\u200c\u200cخ", "می\u200c‹U+200C›خ"},
	} {
		if got := cleantext.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// What languages and emoji are written with is left where it belongs.
func TestTextKeepsWriting(t *testing.T) {
	for _, text := range []string{
		"café ☕ naïve Straße ﬁ ½ Ωμέγα Ёж 東京 서울 ไทย",
		"👩\u200d💻 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 🧑🏽\u200d🤝\u200d🧑🏻 🙂\u200d↔\ufe0f ❤\ufe0f\u200d🔥 ☎\ufe0e 1\ufe0f\u20e3 #\ufe0f\u20e3 ↔\ufe0f ‼\ufe0f",
		"🇩🇪 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
		"هل تريد حذف الملف report.pdf؟", "האם למחוק את הקובץ C++\u200e?", "שלום!\u200f ok", "\u200fכן",
		"می\u200cخواهم این را حذف کنم؟", "HTML\u200cها", "ه\u200d", "क्\u200dष र्\u200dय", "ශ්\u200dරී", "ന\u0d4d\u200d",
		"葛\U000e0100城市 辻\ufe00", "ភាសា\u200bខ្មែរ", "⠓⠑⠇⠇⠕\u2800⠺⠕⠗⠇⠙", "\u0600١٢", "ᠠ\u180bᠨ",
	} {
		if got := cleantext.Text(text); got != text {
			t.Errorf("Text(%+q) = %+q", text, got)
		}
	}
	if !cleantext.IsPlain([]byte("café ☕ “東京” …\n\tok")) {
		t.Error("usual writing isn't plain")
	}
}

func TestLineAndName(t *testing.T) {
	if got := cleantext.Line(" a\n\nb\x1b[2J\tc "); got != "a b␛[2J c" {
		t.Errorf("Line: %q", got)
	}
	for name, want := range map[string]string{" a ": "a", "": "", " ": "‹U+0020›", "\u00a0\n": "‹U+00A0›‹U+000A›", "\u3164": "‹U+3164›"} {
		if got := cleantext.Name(name); got != want {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
	}
}

// What is cleaned is clean: it stays as it is when it is cleaned again, and has no invisible
// character but where writing needs it.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "\x1b\x1b[m[2J", "\r\x1b[m\r\n", "\ufeff\ufeff", "א\u200f\u200e1", "🏴\U000e0067\U000e0062", "👩\u200d\u200d💻", "\u2800⠁", "\xff\u009b\x9b1m", "a\u200b\u0e01\u200b\u0e01", "葛\U000e0100\U000e0100", "\u061c\n\u200fא"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := cleantext.Text(s)
		if again := cleantext.Text(once); again != once {
			t.Errorf("Text(%+q) = %+q, and then %+q", s, once, again)
		}
		if !utf8.ValidString(once) || strings.ContainsAny(once, "\x00\x1b\x7f\r\u009b\u0085\u2028\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u3164") {
			t.Errorf("Text(%+q) = %+q", s, once)
		}
		if cleantext.IsPlain([]byte(s)) && once != s {
			t.Errorf("%+q is plain, but becomes %+q", s, once)
		}
		line := cleantext.Line(s)
		if again := cleantext.Line(line); again != line || strings.ContainsAny(line, "\n\t") {
			t.Errorf("Line(%+q) = %+q, and then %+q", s, line, again)
		}
	})
}

func TestSkeleton(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"Password", "password"},
		{"pa\u200bss\u00adwo\u202erd", "password"},
		{"раѕѕwоrd", "password"}, // Cyrillic
		{"ΡΑSSωοRD", "password"}, // Greek
		{"ｐａｓｓｗｏｒｄ 𝓹𝓪𝓼𝓼", "password pass"},
		{"contraseña hasło şifre", "contrasena haslo sifre"},
		{"п\u0430роль 密码 비밀번호", "пapoль 密码 비밀번호"},
		{"\xffa\x00b", "\ufffda b"},
	} {
		if got := cleantext.Skeleton(tt.in); got != tt.want {
			t.Errorf("Skeleton(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
