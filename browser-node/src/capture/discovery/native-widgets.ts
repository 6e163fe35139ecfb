import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/**
 * The containers of a network's native ads, by their id and class, and the domains that fill them or that their links
 * lead to.
 */
type NativeNetwork = { container: RegExp; domains: readonly string[] };

const NETWORKS: readonly NativeNetwork[] = [
  {
    container: /(^|\s)(taboola-|trc_rbox|trc_related_container|tbl-feed)/i,
    domains: ['taboola.com', 'taboolasyndication.com'],
  },
  {
    container: /(^|\s)(OUTBRAIN|ob-widget|ob-smartfeed|outbrain_widget)/i,
    domains: ['outbrain.com', 'outbrainimg.com'],
  },
  {
    container: /(^|\s)(rc-widget|rcjsload|rc_widget|rev-content|revcontent)/i,
    domains: ['revcontent.com', 'rcimg.net'],
  },
  { container: /(^|\s)(M\d+ScriptRootC\d+|mgbox|mgline|_mgwidget|mgid)/i, domains: ['mgid.com'] },
  { container: /(^|\s)(adskeeper|M\d+ScriptRootC)/i, domains: ['adskeeper.com', 'adskeeper.co.uk'] },
  { container: /(^|\s)zergnet/i, domains: ['zergnet.com'] },
  { container: /(^|\s)dianomi/i, domains: ['dianomi.com'] },
  { container: /(^|\s)(plista|itemLinkPET)/i, domains: ['plista.com'] },
  { container: /(^|\s)(lig_|ligatus)/i, domains: ['ligatus.com', 'ligadx.com'] },
  { container: /(^|\s)(strossle|spklw)/i, domains: ['strossle.com', 'strossle.it', 'spklw.com'] },
  { container: /(^|\s)(ntv|nativo)/i, domains: ['postrelease.com', 'nativo.com', 'ntv.io'] },
  { container: /(^|\s)(sharethrough|str-adunit)/i, domains: ['sharethrough.com', 'btlr.com'] },
  { container: /(^|\s)(triplelift|tlx-)/i, domains: ['3lift.com', 'triplelift.com'] },
  { container: /(^|\s)(adnow|SC_TBlock)/i, domains: ['adnow.com', 'nnowa.com'] },
  { container: /(^|\s)(engageya|ENG_)/i, domains: ['engageya.com'] },
  { container: /(^|\s)(gravity|grv-)/i, domains: ['gravity.com'] },
  { container: /(^|\s)(content-?ad|contentad)/i, domains: ['content-ad.net', 'content.ad'] },
  { container: /(^|\s)(jubna)/i, domains: ['jubna.com'] },
  { container: /(^|\s)(speakol)/i, domains: ['speakol.com'] },
  { container: /(^|\s)(dable|dablewidget)/i, domains: ['dable.io'] },
  { container: /(^|\s)(popin|_popIn)/i, domains: ['popin.cc'] },
  { container: /(^|\s)(logly|lift-widget)/i, domains: ['logly.co.jp'] },
  { container: /(^|\s)(24smi|smi_teaser)/i, domains: ['24smi.net', '24smi.org'] },
];

/** The domains of the network whose container an element is, by its id and class; none if it is no container. */
export const nativeDomainsOf = (id: string, className: string): readonly string[] =>
  NETWORKS.find(({ container }) => container.test(id) || container.test(className))?.domains ?? [];

const DOMAINS: ReadonlySet<string> = new Set(NETWORKS.flatMap(({ domains }) => domains));

/** Whether a URL belongs to a network of native ads. */
export const isNative = (url: string): boolean => DOMAINS.has(registrableDomain(url));
