import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/** A brand that phishing imitates: words that name it, and domains on which its owner asks for passwords. */
export type Brand = { name: string; words: readonly string[]; domains: readonly string[] };

const brand = (name: string, words: string, domains: string): Brand => ({
  name,
  words: words.split('|'),
  domains: domains.split(' '),
});

/** The brands that public reports on phishing name most (APWG, Check Point, Cloudflare, 2023 to 2025), with domains from their own sites. */
export const BRANDS: readonly Brand[] = [
  brand(
    'Microsoft',
    'microsoft|office 365|microsoft 365',
    'microsoft.com microsoftonline.com live.com office.com office365.com outlook.com sharepoint.com windows.com azure.com msn.com',
  ),
  brand('Google', 'google|gmail', 'google.com gmail.com youtube.com googleusercontent.com withgoogle.com'),
  brand('Apple', 'apple|icloud|apple id', 'apple.com icloud.com me.com'),
  brand('Amazon', 'amazon', 'amazon.com amazonaws.com amazonpay.com primevideo.com'),
  brand('Facebook', 'facebook', 'facebook.com fb.com meta.com messenger.com'),
  brand('Instagram', 'instagram', 'instagram.com facebook.com meta.com'),
  brand('WhatsApp', 'whatsapp', 'whatsapp.com whatsapp.net'),
  brand('Telegram', 'telegram', 'telegram.org t.me telegram.me'),
  brand('LinkedIn', 'linkedin', 'linkedin.com'),
  brand('Netflix', 'netflix', 'netflix.com netflix.net'),
  brand('Spotify', 'spotify', 'spotify.com'),
  brand('Steam', 'steam', 'steampowered.com steamcommunity.com valvesoftware.com'),
  brand('Roblox', 'roblox', 'roblox.com'),
  brand('Discord', 'discord', 'discord.com discord.gg discordapp.com'),
  brand('Adobe', 'adobe', 'adobe.com'),
  brand('Dropbox', 'dropbox', 'dropbox.com dropboxusercontent.com'),
  brand('DocuSign', 'docusign', 'docusign.com docusign.net'),
  brand('Yahoo', 'yahoo', 'yahoo.com yahoo.co.jp'),
  brand('PayPal', 'paypal', 'paypal.com paypal-community.com'),
  brand('Stripe', 'stripe', 'stripe.com'),
  brand('Mastercard', 'mastercard', 'mastercard.com'),
  brand('American Express', 'american express|amex', 'americanexpress.com aexp.com'),
  brand('Chase', 'chase', 'chase.com jpmorganchase.com'),
  brand('Wells Fargo', 'wells fargo', 'wellsfargo.com'),
  brand('Bank of America', 'bank of america', 'bankofamerica.com'),
  brand('HSBC', 'hsbc', 'hsbc.com'),
  brand('Santander', 'santander', 'santander.com'),
  brand('ING', 'ing', 'ing.com'),
  brand('Sparkasse', 'sparkasse', 'sparkasse.de'),
  brand('Crédit Agricole', 'crédit agricole|credit agricole', 'credit-agricole.fr credit-agricole.com'),
  brand('Revolut', 'revolut', 'revolut.com'),
  brand('DHL', 'dhl', 'dhl.com dhl.de'),
  brand('FedEx', 'fedex', 'fedex.com'),
  brand('UPS', 'ups', 'ups.com'),
  brand('USPS', 'usps', 'usps.com'),
  brand('Coinbase', 'coinbase', 'coinbase.com'),
  brand('Binance', 'binance', 'binance.com'),
  brand('MetaMask', 'metamask', 'metamask.io'),
  brand('Trust Wallet', 'trust wallet|trustwallet', 'trustwallet.com'),
  brand('Ledger', 'ledger live', 'ledger.com'),
  brand('IRS', 'irs', 'irs.gov'),
];

/** Suffixes under which brands have further sites: country codes, and the oldest ones. */
const COMMON_ENDING = /^([a-z]{2}|com?\.[a-z]{2}|com|net|org)$/;

/** Whether a site belongs to a brand. The brand's name under a country's suffix counts as its own. */
export function isOwn({ domains }: Brand, url: string): boolean {
  const domain = registrableDomain(url);
  if (domains.includes(domain)) return true;
  const [label = '', ...ending] = domain.split('.');
  return COMMON_ENDING.test(ending.join('.')) && domains.some((own) => own.split('.', 1)[0] === label);
}

/** Vendors of browsers, operating systems, their components and antivirus software, and sites that help to choose a browser. */
const VENDORS = new Set(
  (
    'adobe.com android.com apple.com avast.com avg.com bitdefender.com brave.com browsehappy.com browser-update.org chrome.com ' +
    'duckduckgo.com eset.com firefox.com google.com java.com kaspersky.com malwarebytes.com mcafee.com microsoft.com mozilla.org ' +
    'norton.com opera.com oracle.com outdatedbrowser.com samsung.com sophos.com vivaldi.com whatsapp.com windows.com yandex.com yandex.ru'
  ).split(' '),
);

/** Whether `url` belongs to a vendor, whose claims about browsers, systems and viruses are honest. */
export const isVendors = (url: string): boolean => VENDORS.has(registrableDomain(url));
