import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/** Who makes browsers, operating systems and what is offered as their parts, and who helps to choose a browser. */
const VENDORS = new Set(
  (
    'adobe.com android.com apple.com avast.com avg.com bitdefender.com brave.com browsehappy.com browser-update.org chrome.com ' +
    'duckduckgo.com eset.com firefox.com google.com java.com kaspersky.com malwarebytes.com mcafee.com microsoft.com mozilla.org ' +
    'norton.com opera.com oracle.com outdatedbrowser.com samsung.com sophos.com vivaldi.com whatsapp.com windows.com yandex.com yandex.ru'
  ).split(' '),
);

/** Whether what is said at `url` about browsers, systems and viruses is said by one who makes them. */
export const isVendors = (url: string): boolean => VENDORS.has(registrableDomain(url));
