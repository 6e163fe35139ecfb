import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observed, slugsOf } from '../../support/detected.ts';

describe('§2.5.13 warnings and offers that share words with scareware', () => {
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
});
