import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/**
 * A brand that phishing imitates: words that name it, and registrable domains on which its owner asks for passwords.
 * `signIn`: words of its sign-in page that others use as well, and registrable domains that serve the pictures of that
 * page only.
 */
export type Brand = {
  name: string;
  words: readonly string[];
  domains: ReadonlySet<string>;
  signIn: { words: readonly string[]; domains: ReadonlySet<string> };
};

const listOf = (words: string): string[] => words.split(' ').filter(Boolean);

/** `endings`: further endings under which the first label of `domains` is the brand's, such as `de co.uk`. */
const brand = (
  name: string,
  words: string,
  domains: string,
  endings = '',
  signIn = { words: '', domains: '' },
): Brand => {
  const own = domains.split(' ');
  const label = own[0]?.split('.')[0];
  const inCountries = listOf(endings);
  return {
    name,
    words: words.split('|'),
    domains: new Set([...own, ...inCountries.map((one) => `${label}.${one}`)]),
    signIn: { words: listOf(signIn.words), domains: new Set(listOf(signIn.domains)) },
  };
};

/** Where Google has its search (google.com/supported_domains). */
const GOOGLES =
  'ad ae al am as at az ba be bf bg bi bj bs bt by ca cd cf cg ch ci cl cm cn co.ao co.bw co.ck co.cr co.id co.il co.in co.jp co.ke co.kr ' +
  'co.ls co.ma co.mz co.nz co.th co.tz co.ug co.uk co.uz co.ve co.vi co.za co.zm co.zw com.af com.ag com.ar com.au com.bd com.bh com.bn com.bo ' +
  'com.br com.bz com.co com.cu com.cy com.do com.ec com.eg com.et com.fj com.gh com.gi com.gt com.hk com.jm com.kh com.kw com.lb com.ly com.mm ' +
  'com.mt com.mx com.my com.na com.ng com.ni com.np com.om com.pa com.pe com.pg com.ph com.pk com.pr com.py com.qa com.sa com.sb com.sg com.sl ' +
  'com.sv com.tj com.tr com.tw com.ua com.uy com.vc com.vn cv cz de dj dk dm dz ee es fi fm fr ga ge gg gl gm gr gy hn hr ht hu ie im iq is it ' +
  'je jo kg ki kz la li lk lt lu lv md me mg mk ml mn mu mv mw ne nl no nr nu pl pn ps pt ro rs ru rw sc se sh si sk sm sn so sr st td tg tl tm ' +
  'tn to tt vu ws';

/**
 * The brands that public reports on phishing name most (APWG, Check Point, Cloudflare, 2023 to 2025), parcel services,
 * markets and banks that text messages imitate, with domains from their own sites.
 */
export const BRANDS: readonly Brand[] = [
  brand(
    'Microsoft',
    'microsoft|office 365|microsoft 365',
    'microsoft.com microsoftonline.com live.com office.com office365.com outlook.com windows.com azure.com msn.com microsoftonline.de ' +
      'microsoftonline.us microsoftonline.cn microsoft365.com cloud.microsoft',
    'de fr it es nl pl ch at co.uk co.jp',
    // "Email, phone, or Skype", with pictures from aadcdn.msauth.net and aadcdn.msftauth.net.
    { words: 'skype', domains: 'msauth.net msftauth.net' },
  ),
  brand('Google', 'google|gmail', 'google.com gmail.com youtube.com withgoogle.com', GOOGLES),
  brand('Apple', 'apple|icloud|apple id', 'apple.com icloud.com me.com icloud.com.cn', 'com.cn de fr'),
  brand(
    'Amazon',
    'amazon',
    // Audible, IMDb and Goodreads have its sign-in page too.
    'amazon.com amazonpay.com primevideo.com imdb.com goodreads.com audible.com audible.ca audible.co.jp audible.co.uk audible.com.au audible.com.br ' +
      'audible.de audible.es audible.fr audible.in audible.it',
    'ae ca cn co.jp co.uk co.za com.au com.be com.br com.mx com.tr de eg es fr ie in it nl pl sa se sg',
  ),
  brand('Facebook', 'facebook', 'facebook.com fb.com meta.com messenger.com'),
  brand('Instagram', 'instagram', 'instagram.com facebook.com meta.com'),
  brand('WhatsApp', 'whatsapp', 'whatsapp.com whatsapp.net'),
  brand('Telegram', 'telegram', 'telegram.org t.me telegram.me'),
  brand('LinkedIn', 'linkedin', 'linkedin.com linkedin.cn'),
  brand('Netflix', 'netflix', 'netflix.com netflix.net'),
  brand('Spotify', 'spotify', 'spotify.com'),
  brand('Steam', 'steam community|steam', 'steampowered.com steamcommunity.com valvesoftware.com'),
  brand('Roblox', 'roblox', 'roblox.com'),
  brand('Discord', 'discord', 'discord.com discord.gg discordapp.com'),
  brand('Adobe', 'adobe', 'adobe.com adobelogin.com'),
  brand('Dropbox', 'dropbox', 'dropbox.com'),
  brand('DocuSign', 'docusign', 'docusign.com docusign.net', 'de fr co.uk com.au com.br jp ca'),
  brand('Yahoo', 'yahoo', 'yahoo.com', 'co.jp co.uk de fr it es ca com.br com.hk com.tw'),
  brand('PayPal', 'paypal', 'paypal.com paypal-community.com', 'de fr it es co.uk com.au at ch nl be pl me'),
  brand('Stripe', 'stripe', 'stripe.com'),
  brand(
    'Mastercard',
    'mastercard',
    'mastercard.com',
    'us ca co.uk de fr it es at ch nl be pl com.br com.mx com.au co.in',
  ),
  brand(
    'American Express',
    'american express|amex',
    'americanexpress.com aexp.com',
    'ca co.uk de fr it es co.jp com.au com.mx',
  ),
  brand('Chase', 'chase', 'chase.com jpmorganchase.com', 'co.uk'),
  brand('Wells Fargo', 'wells fargo', 'wellsfargo.com'),
  brand('Bank of America', 'bank of america', 'bankofamerica.com'),
  brand(
    'HSBC',
    'hsbc',
    'hsbc.com hsbcnet.com',
    'co.uk fr de com.hk com.cn com.sg com.my com.mx com.au co.in ca ae com.tr com.tw co.id com.vn lk com.eg com.bh com.qa com.ph com.mt bm',
  ),
  brand(
    'Santander',
    'santander',
    'santander.com bancosantander.es santanderbank.com',
    'co.uk de es pl pt com.br com.mx com.ar cl com.uy com.co pe no se dk fi it nl be at us',
  ),
  brand('ING', 'ing', 'ing.com ingbank.pl ing-diba.at', 'nl de be es it pl ro lu fr at com.au com.tr'),
  brand('Sparkasse', 'sparkasse', 'sparkasse.de', 'at it'),
  brand('Crédit Agricole', 'crédit agricole|credit agricole', 'credit-agricole.fr', 'com it pl'),
  brand('Revolut', 'revolut', 'revolut.com'),
  brand(
    'DHL',
    'dhl express|dhl',
    'dhl.com dhlparcel.nl dhlecommerce.nl dhlexpresscommerce.com',
    'de fr it es nl be at ch pl pt se dk fi no cz hu ro gr ie us ca in co.uk co.jp com.au com.br com.cn com.hk com.tr',
  ),
  brand('FedEx', 'fedex', 'fedex.com', 'com.cn'),
  brand('UPS', 'ups', 'ups.com'),
  brand('USPS', 'usps', 'usps.com'),
  brand('Royal Mail', 'royal mail', 'royalmail.com royalmailgroup.com parcelforce.com'),
  brand('Evri', 'evri', 'evri.com myhermes.co.uk'),
  brand(
    'DPD',
    'dpd',
    'dpd.com dpdgroup.com dpdlocal.co.uk',
    'de fr co.uk nl be ch at ie pt pl com.pl cz sk hu ro hr si bg lt lv ee rs ru by kz',
  ),
  brand(
    'La Poste',
    'la poste|colissimo|chronopost',
    'laposte.fr laposte.net lapostemobile.fr lapostemonaco.mc post.ch colissimo.fr chronopost.fr',
    'com sn tn ci bj bf tg',
  ),
  brand('bpost', 'bpost', 'bpost.be bpost.cloud bpostgroup.com'),
  brand('PostNL', 'postnl', 'postnl.nl postnl.be postnl.com'),
  brand('PostNord', 'postnord', 'postnord.com', 'se dk no fi de pl'),
  brand(
    'Correos',
    // The name alone is Spanish for mails.
    'correos express|correos y telégrafos|correos españa|correos de españa|correos chile|correos de chile|correos de méxico|correos de costa rica',
    'correos.es correosexpress.com correosdemexico.gob.mx',
    'com cl cu go.cr gob.sv gob.gt com.uy',
  ),
  brand('Poste Italiane', 'poste italiane|postepay|bancoposta', 'poste.it posteitaliane.it postepay.it'),
  brand('InPost', 'inpost', 'inpost.pl inpostpay.pl inpost-group.com easypack24.net', 'eu it fr es pt co.uk nl be lu'),
  brand('Australia Post', 'australia post|auspost', 'auspost.com.au'),
  brand('Canada Post', 'canada post|postes canada', 'canadapost.ca canadapost-postescanada.ca postescanada.ca'),
  brand('Correios', 'correios', 'correios.com.br'),
  brand('An Post', 'an post', 'anpost.com'),
  brand('SingPost', 'singpost', 'singpost.com'),
  brand('Emirates Post', 'emirates post', 'emiratespost.ae'),
  brand('Israel Post', 'israel post|דואר ישראל', 'israelpost.co.il'),
  brand('Aramex', 'aramex', 'aramex.com'),
  brand('Nova Poshta', 'nova poshta|нова пошта', 'novaposhta.ua novapost.com'),
  brand('Yamato', 'ヤマト運輸|クロネコヤマト', 'kuronekoyamato.co.jp yamato-hd.co.jp'),
  brand('Sagawa', '佐川急便', 'sagawa-exp.co.jp sg-hldgs.co.jp'),
  brand(
    'eBay',
    'ebay',
    'ebay.com ebayinc.com',
    'de co.uk fr it es ca com.au at ch be nl ie pl in ph com.sg com.my com.hk',
  ),
  brand('Vinted', 'vinted', 'vinted.com', 'fr de es it nl be pl cz lt co.uk at lu pt se dk fi hu sk ro hr gr ie'),
  brand('TikTok', 'tiktok', 'tiktok.com tiktokv.com tiktokshop.com tiktokglobalshop.com bytedance.com'),
  brand('Klarna', 'klarna', 'klarna.com klarna.net', 'de se'),
  brand('Venmo', 'venmo', 'venmo.com'),
  brand('Cash App', 'cash app', 'cash.app cash.me'),
  brand('Nubank', 'nubank', 'nubank.com.br nu.com.br nu.com.mx nu.com.co', 'com'),
  brand('Itaú', 'itaú|itau', 'itau.com.br', 'com cl com.uy com.py co com.ar'),
  brand('Bradesco', 'bradesco', 'bradesco.com.br bradesco.b.br bradesconetempresa.b.br'),
  brand(
    'Mercado Libre',
    'mercado libre|mercado livre|mercadolibre|mercadolivre',
    'mercadolibre.com mercadolivre.com.br mercadolivre.com mercadopago.com',
    'com.ar com.mx com.co com.uy com.ve com.pe com.ec com.do com.py com.bo com.pa com.gt com.hn com.ni com.sv cl co.cr',
  ),
  brand('Capital One', 'capital one', 'capitalone.com capitaloneshopping.com', 'ca co.uk'),
  brand(
    'Citibank',
    'citibank',
    'citibank.com citi.com citibankonline.com citidirect.com',
    'com.hk com.sg co.in ae com.au com.my co.id com.ph co.kr co.th com.tw pl',
  ),
  brand(
    'Barclays',
    'barclays|barclaycard',
    'barclays.com barclayscorporate.com barclaycard.co.uk barclaycard.com barclaycard.de barclaycardus.com barclaysus.com',
    'co.uk net in de',
  ),
  brand('Lloyds Bank', 'lloyds bank', 'lloydsbank.com lloydsbankinggroup.com', 'co.uk'),
  brand('NatWest', 'natwest', 'natwest.com nwolb.com natwestgroup.com natwestinternational.com'),
  brand('Commerzbank', 'commerzbank', 'commerzbank.de', 'com'),
  brand('Postbank', 'postbank', 'postbank.de', 'bg co.ke co.za co.ug'),
  brand('comdirect', 'comdirect', 'comdirect.de'),
  brand('BNP Paribas', 'bnp paribas', 'bnpparibas.com bnpparibasfortis.be bnpparibasfortis.com', 'net fr pl de it es'),
  brand('La Banque Postale', 'la banque postale|banque postale', 'labanquepostale.fr', 'com'),
  brand('BBVA', 'bbva', 'bbva.com bbvanetcash.com', 'es mx pe com.ar com.co com.uy it de pt ch'),
  brand('CaixaBank', 'caixabank', 'caixabank.es lacaixa.es lacaixa.cat', 'com cat'),
  brand(
    'Intesa Sanpaolo',
    'intesa sanpaolo',
    'intesasanpaolo.com intesasanpaolobank.al intesasanpaolobank.ro intesasanpaolobank.si intesasanpaolobank.ba isybank.com',
    'it',
  ),
  brand('Rabobank', 'rabobank', 'rabobank.nl', 'com be de com.au co.nz'),
  brand('ABN AMRO', 'abn amro', 'abnamro.nl', 'com be'),
  brand('PKO BP', 'pko bp', 'pkobp.pl ipko.pl inteligo.pl'),
  brand('mBank', 'mbank', 'mbank.pl', 'cz sk com kg'),
  brand('SMBC', '三井住友銀行|三井住友カード', 'smbc.co.jp smbc-card.com'),
  brand('Eki-net', 'えきねっと', 'eki-net.com'),
  brand('Coinbase', 'coinbase', 'coinbase.com'),
  brand('Binance', 'binance', 'binance.com', 'us'),
  brand('MetaMask', 'metamask', 'metamask.io'),
  brand('Trust Wallet', 'trust wallet|trustwallet', 'trustwallet.com'),
  brand('Ledger', 'ledger live|ledger wallet', 'ledger.com'),
  brand('Trezor', 'trezor', 'trezor.io'),
  brand('Phantom', 'phantom wallet', 'phantom.com phantom.app'),
  brand('Exodus', 'exodus wallet', 'exodus.com exodus.io'),
  brand('OpenSea', 'opensea', 'opensea.io'),
  brand('Uniswap', 'uniswap', 'uniswap.org'),
  brand('IRS', 'irs', 'irs.gov'),
];

/**
 * Hosts of brands and vendors that show what their users made, with all hosts beneath them; the Public Suffix List has
 * others.
 */
const HOSTS_OF_USERS = (
  'sites.google.com docs.google.com drive.google.com forms.google.com script.google.com groups.google.com lookerstudio.google.com ' +
  'sites.yandex.ru forms.yandex.ru forms.yandex.com disk.yandex.ru disk.yandex.com forms.office.com forms.microsoft.com sway.office.com ' +
  'sway.cloud.microsoft onedrive.live.com express.adobe.com indd.adobe.com acrobat.adobe.com spark.adobe.com ' +
  'cdn.discordapp.com'
).split(' ');

/**
 * Whether `url` shows what users of its owner made. The hosts of cloud services are domains of their own by the Public
 * Suffix List.
 */
function isOfUsers(url: string): boolean {
  const host = (URL.parse(url)?.hostname ?? '').replace(/\.$/, '');
  return HOSTS_OF_USERS.some((one) => host === one || host.endsWith(`.${one}`));
}

/**
 * Top-level domains under which only their brand registers names (ICANN, "Specification 13"); each is the first label
 * of one of its domains.
 */
const OWN_TOP_LEVELS = new Set(
  (
    'amazon americanexpress apple azure barclaycard barclays bbva bnpparibas bradesco chase citi dhl fedex google hsbc itau microsoft netflix ' +
    'office ups windows yahoo youtube'
  ).split(' '),
);

/**
 * Whether a page belongs to a brand: one of its domains, or one below its own top-level domain, and no page of its
 * users.
 */
export const isOwn = (brand: Brand, url: string): boolean => owns(brand, registrableDomain(url)) && !isOfUsers(url);

function owns({ domains }: Brand, domain: string): boolean {
  if (domains.has(domain)) return true;
  const top = domain.slice(domain.lastIndexOf('.') + 1);
  return OWN_TOP_LEVELS.has(top) && domains.values().some((one) => one.startsWith(`${top}.`));
}

/**
 * The brands to which some of `urls` belong (`owners`), and those of whose sign-in page alone some are a part
 * (`signIns`). Each URL is read once, whatever the number of brands: a page may request thousands of pictures. Pure.
 */
export function brandsOf(urls: readonly string[]): { owners: ReadonlySet<Brand>; signIns: ReadonlySet<Brand> } {
  const all = urls.map((url) => ({ domain: registrableDomain(url), isOfUsers: isOfUsers(url) }));
  const [domains, own] = [all, all.filter((one) => !one.isOfUsers)].map((some) => [
    ...new Set(some.map(({ domain }) => domain)),
  ]);
  return {
    owners: new Set(BRANDS.filter((brand) => own!.some((domain) => owns(brand, domain)))),
    signIns: new Set(
      BRANDS.filter(({ signIn }) => signIn.domains.size > 0 && domains!.some((domain) => signIn.domains.has(domain))),
    ),
  };
}

/**
 * Vendors of browsers, operating systems, their components and antivirus software, and sites that help to choose a
 * browser.
 */
const VENDORS = new Set(
  (
    'adobe.com ahnlab.com android.com apple.com arc.net avast.com avg.com avira.com bitdefender.co.uk bitdefender.com ' +
    'bitdefender.com.au bitdefender.com.br bitdefender.de bitdefender.es bitdefender.fr bitdefender.it bitdefender.nl bitdefender.ro ' +
    'brave.com browsehappy.com browser-update.org ccleaner.com checkpoint.com chrome.com chromium.org coccoc.com codecguide.com ' +
    'comodo.com crowdstrike.com divx.com drweb.com drweb.ru duckduckgo.com ecosia.org emsisoft.com epicbrowser.com eset.com ' +
    'f-secure.com firefox.com fortinet.com gdata.de gdatasoftware.com gendigital.com ghostery.com gomlab.com google.com intego.com ' +
    'jamf.com java.com k7computing.com kaspersky.co.jp kaspersky.co.uk kaspersky.com kaspersky.com.br kaspersky.com.tr kaspersky.de ' +
    'kaspersky.es kaspersky.fr kaspersky.it kaspersky.nl kaspersky.pl kaspersky.ru kmplayer.com librewolf.net lookout.com macpaw.com ' +
    'malwarebytes.com maxthon.com mcafee.com microsoft.com mozilla.org nordvpn.com norton.com opera.com oracle.com ' +
    'outdatedbrowser.com palemoon.org paloaltonetworks.com pandasecurity.com quickheal.com samsung.com sentinelone.com sophos.com ' +
    'surfshark.com torproject.org trellix.com trendmicro.co.jp trendmicro.com ucweb.com updatemybrowser.org videolan.org ' +
    'virustotal.com vivaldi.com waterfox.net webroot.com whatbrowser.org whatismybrowser.com whatsapp.com winamp.com windows.com ' +
    'withsecure.com yandex.com yandex.ru zonealarm.com'
  ).split(' '),
);

/** Whether `url` belongs to a vendor, whose claims about browsers, systems and viruses are honest. */
export const isVendors = (url: string): boolean => VENDORS.has(registrableDomain(url)) && !isOfUsers(url);
