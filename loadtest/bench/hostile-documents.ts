import type { HostileTarget } from './hostile-target.ts';

const vast = (...ads: string[]) => `<VAST version="4.2">${ads.join('')}</VAST>`;
const inLine = (before: string, creatives: string) =>
  vast(
    `<Ad id="1"><InLine><AdSystem>a</AdSystem><AdTitle>t</AdTitle>${before}<Creatives>${creatives}</Creatives></InLine></Ad>`,
  );
const film = (files: string, events = '') =>
  `<Creative><Linear><Duration>00:00:05</Duration><TrackingEvents>${events}</TrackingEvents><MediaFiles>${files}</MediaFiles></Linear></Creative>`;
const file = (path: string) =>
  `<MediaFile delivery="progressive" type="video/mp4" width="640" height="360"><![CDATA[${path}]]></MediaFile>`;
const times = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join('');

const ID = '€'.repeat(150_000);
const filled = (macro: string, urls: number) =>
  inLine(
    `<AdServingId>${ID}</AdServingId>${times(urls, () => `<Error><![CDATA[/e?${`[${macro}]`.repeat(50)}]]></Error>`)}`,
    `<Creative><UniversalAdId idRegistry="r">${ID}</UniversalAdId></Creative>`,
  );

const wrapper = (uri: string, errors: number) =>
  `<Ad><Wrapper allowMultipleAds="true"><VASTAdTagURI>${uri}</VASTAdTagURI>${'<Error>/e</Error>'.repeat(errors)}</Wrapper></Ad>`;
const ERRORS = 19_700;
const WRAPPERS = Object.fromEntries([
  ...Array.from({ length: 4 }, (_, at) => [`/w${at}`, vast(wrapper(`/w${at + 1}`, ERRORS))]),
  ['/w4', vast(...Array.from({ length: 49 }, (_, at) => wrapper(`/none-${at}`, 0)))],
]);

const document = (
  name: string,
  channel: HostileTarget['channel'],
  body: string,
  further: Record<string, string> = {},
): HostileTarget => ({ name, channel, kind: 'vast_tag', body, further });

const VPAID = inLine(
  '<Impression>/i</Impression>',
  film(
    '<MediaFile delivery="progressive" type="application/javascript" apiFramework="VPAID" width="640" height="360">/vpaid.js</MediaFile>',
  ),
);
/** A VPAID script of which a function never returns. */
const spinningIn = (name: string) =>
  `getVPAIDAd = () => new Proxy({ handshakeVersion: () => '2.0' }, { get: (ad, key) => ad[key] ?? (key === '${name}' ? () => { for (;;); } : () => 0) })`;

/** VAST documents that try the same. The path `/endless` never ends, `/never` is never answered. */
export const HOSTILE_DOCUMENTS: readonly HostileTarget[] = [
  document('60 error URLs of 22 MB', 'macros', filled('ADSERVINGID', 60)),
  document('130 error URLs of 22 MB', 'macros', filled('ADSERVINGID', 130)),
  document('60 error URLs with an id of a creative', 'macros', filled('UNIVERSALADID', 60)),
  document('14.6 million error URLs of wrappers', 'wrappers', vast(wrapper('/w0', ERRORS)), WRAPPERS),
  document('wrappers that wrap themselves', 'wrappers', vast(...Array.from({ length: 50 }, () => wrapper('/', 10)))),
  document(
    '499 trackers of control characters',
    'trackers',
    inLine(
      '<Impression>/i</Impression>',
      film(
        file('/endless?film'),
        times(499, (at) => `<Tracking event="start"><![CDATA[/t?${at}${'\u0001'.repeat(800)}]]></Tracking>`),
      ),
    ),
  ),
  document(
    'a companion with 480 long URLs',
    'trackers',
    inLine(
      '<Impression>/i</Impression>',
      `${film(file('/endless?film'))}<Creative><CompanionAds><Companion width="300" height="250"><HTMLResource><![CDATA[${times(480, (at) => `<img src="/c?${at}${'a'.repeat(2_000)}">`)}]]></HTMLResource></Companion></CompanionAds></Creative>`,
    ),
  ),
  document('a film without end', 'media', inLine('<Impression>/i</Impression>', film(file('/endless?film')))),
  document(
    'forty films that do not come',
    'media',
    inLine('<Impression>/i</Impression>', film(times(40, (at) => file(`/never?${at}`)))),
  ),
  document('a VPAID script that spins when it loads', 'ads', VPAID, { '/vpaid.js': 'for (;;);' }),
  document('a VPAID script that spins when it starts', 'ads', VPAID, { '/vpaid.js': spinningIn('initAd') }),
  document('a comment without end', 'document', `<VAST version="4.2">${'<!--'.repeat(250_000)}`),
];
