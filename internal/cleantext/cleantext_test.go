package cleantext_test

import (
	"testing"

	"github.com/photon-beam/beam/internal/cleantext"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"a\x1b[31mred\x1b[0m", "ared"},
		{"\x1b]0;title\x07x\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "xlink"},
		{"\x1bP1$r\x1b\\a\u009b31mb\x1bc", "ab"},
		{"over\rwritten\b\b", "over\nwritten"},
		{"user\u202etxt.exe\u2066\u200b\ufeff", "usertxt.exe"},
		{"\xff\x1b", "\ufffd"},
		{"\u2028two", "\ntwo"},
		{"café ☕ 👩\u200d💻 ❤\ufe0f", "café ☕ 👩\u200d💻 ❤\ufe0f"},
		{"a\u3164b\U000e0041c\U000e0101d\u115fe", "abcde"},
	} {
		if got := cleantext.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := cleantext.Line(" a\n\nb\x1b[2J\tc "); got != "a b c" {
		t.Errorf("Line: %q", got)
	}
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

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"\ufeffa\x1b[31mred\x1b[0m\r\n", "ared\n"},
		{"\x1b]8;;http://evil\x1b\\x\a\x7f\u009b", "␛]8;;http://evil␛\\x␇␡[U+009B]"},
		{"user\u202etxt.exe", "user[U+202E]txt.exe"},
		{"a\u200bb\U000e0041\u3164", "a[U+200B]b[U+E0041][U+3164]"},
		{"שלום\u200f so\u00adft 👩\u200d💻", "שלום\u200f so\u00adft 👩\u200d💻"},
		{"\xff\rx", "\ufffd␍x"},
	} {
		if got := cleantext.Visible(tt.in); got != tt.want {
			t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
