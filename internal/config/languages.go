package config

import "strings"

// Languages lists the published locales of the default page, the default first.
func Languages() []string {
	return strings.Fields(`en-US es-ES de-DE fr-FR it-IT ja-JP ko-KR pt-BR zh-CN zh-TW nl-NL pl-PL id-ID
		tr-TR ar-EG ru-RU fa-IR bg-BG hr-HR cs-CZ da-DK fi-FI lt-LT lv-LV ms-MY nb-NO ro-RO el-GR he-IL
		hi-IN hu-HU sr-BA sk-SK sl-SI sv-SE tl-PH th-TH uk-UA vi-VN`)
}
