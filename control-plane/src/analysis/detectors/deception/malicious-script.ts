import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { ScriptMarker } from '@adsweep/shared/capture/script-markers.ts';
import { type Detector, type Finding, surfaceOf } from '../detector.ts';
import { tagsIn } from './markup.ts';

/**
 * What only malicious scripts do. `starts`: markers that are rare in other scripts; one of them must match before
 * anything else is searched. `all`: one word of each group must occur, in lower case and without white space. `source`
 * is the publication that describes the behaviour; the words are our own choice. `beginsBase64`: a marker counts where
 * base64 begins, and not inside a picture or a source map, whose base64 contains URLs too. `reach`: the words count
 * within so many characters of a marker, because a bundle contains everything somewhere. `lengthMax`: longer scripts do
 * not count.
 */
type ScriptSignature = {
  name: string;
  source: string;
  starts: readonly ScriptMarker[];
  all: readonly (readonly string[])[];
  beginsBase64?: true;
  reach?: number;
  lengthMax?: number;
};

export const SCRIPT_SIGNATURES: readonly ScriptSignature[] = [
  {
    name: 'a skimmer of card numbers',
    // Rules and deobfuscated skimmers of checkout pages, with `atob` around their URLs and the path of the checkout.
    source: 'github.com/gwillem/magento-malware-scanner: build/all-confirmed.yar, analysis/deobfuscated_js',
    starts: ['aHR0cHM6Ly', 'aHR0cDovL', 'd3NzOi8v'],
    beginsBase64: true,
    all: [
      ['atob('],
      ['cardnumber', 'card_number', 'card-number', 'cc_number', 'cc-number', 'ccnumber', 'cc_cid', 'cvv', 'cvc'],
      ['checkout', 'onepage', 'payment', 'order'],
      ['sendbeacon', 'fetch(', 'xmlhttprequest', 'newimage', 'websocket(', '.src='],
    ],
  },
  {
    name: 'a thief of passwords',
    // Endpoints of Telegram and Discord that stealers call, and the word password; Cofense found forms that post there.
    source:
      'github.com/chainguard-dev/malcontent: rules/combo/stealer/telegram.yara, rules/exfil/telegram.yara; cofense.com/blog/telegram-utilized-credentials',
    starts: ['api\\.telegram\\.org/bot', 'discord\\.com/api/webhooks/', 'discordapp\\.com/api/webhooks/'],
    reach: 3_000,
    all: [
      ['sendmessage', 'webhooks/'],
      ['password', 'passwd', 'seedphrase', 'mnemonic', 'document.cookie'],
    ],
  },
  {
    name: 'code that is fetched from a blockchain',
    // Guardio Labs on "EtherHiding" (2023), and a later campaign that reads contracts by eth_call over publicnode.
    source: 'tronweekly.com/malware-binance-smart-chain-details; infosectoday.io/?p=371067',
    starts: ['eth_call'],
    all: [
      ['bsc-dataseed', 'bnbchain', 'binance.org', 'polygon-rpc', 'publicnode', 'drpc.org', '1rpc.io', 'ankr.com'],
      ['eval(', 'newfunction(', 'function(atob', 'createelement("script")', "createelement('script')"],
      ['atob(', 'fromcharcode', 'hextostring', 'touint8array', 'parseint('],
    ],
    lengthMax: 20_000,
  },
  {
    name: 'a command that is put into the clipboard to be run',
    // A page modelled on real ones: execCommand('copy') of "mshta" and a URL; Sigma names mshta and powershell.
    source: 'github.com/JohnHammond/recaptcha-phish: index.html; Sigma rule d487ed4a-fd24-436d-a0b2-f4e95f7b2635',
    starts: ['writeText', 'execCommand', 'clipboardData', 'ClipboardItem'],
    all: [
      ['powershell', 'mshta', 'cmd/c', 'cmd.exe', 'base64-d', 'base64--decode'],
      [
        ...['-whidden', '-windowstylehidden', '-wihidden', 'mshtahttp', 'mshta.exehttp', 'frombase64string'],
        ...['-encodedcommand', 'powershell-enc', 'powershell.exe-enc', '-nop-enc', '|base64-d|bash', '|base64-d|sh'],
        // macOS: a shell runs what base64 had concealed, or an address that it had.
        ...['|base64-d|zsh', '|base64--decode|bash', '|base64--decode|sh', '|base64--decode|zsh', '|base64-d)|zsh'],
        ...['|base64-d)|bash', '|base64-d)|sh', '|base64--decode)|zsh', '|base64--decode)|bash', '|base64--decode)|sh'],
      ],
    ],
  },
  {
    name: 'a command that a captcha puts into the clipboard',
    // Installers are published as such commands too (bun, uv, Scoop, Homebrew): only the pretext, often a comment in
    // the command, differs.
    source: 'github.com/JohnHammond/recaptcha-phish: index.html; bun.sh/docs/installation, docs.astral.sh/uv',
    starts: ['writeText', 'execCommand', 'clipboardData', 'ClipboardItem'],
    all: [
      ['powershell', 'pwsh', 'cmd/c', 'cmd.exe', 'curl', 'wget', 'msiexec', 'rundll32'],
      [
        ...['|iex', 'iex(iwr', 'iex(irm', 'iex(new-object', 'iex((new-object', 'invoke-expression'],
        ...['scriptblock]::create', '|bash', '|sh"', "|sh'", '|sh`', '|sh#', 'msiexec/', 'msiexec.exe/'],
        ...['rundll32\\\\'],
        ...['rundll32.exe\\\\', '|cmd'],
      ],
      [
        ...['notarobot', 'notabot', 'humanverif', 'verifyyouarehuman', 'verifythatyouarehuman', 'verificationid'],
        ...['captchaid', 'captchaverif', 'verificationhash', 'cloudflareid'],
      ],
    ],
    lengthMax: 20_000,
  },
  {
    name: 'a concealed command that is put into the clipboard',
    // The base64 of "powershell", "mshta", "msiexec", "cmd /c" and "cmd.exe", of programs that the rule names; of
    // "/bin/bash ", "/bin/zsh ", "bash -c" and "curl -" on macOS.
    source: 'github.com/SigmaHQ/sigma: rule d487ed4a-fd24-436d-a0b2-f4e95f7b2635 of November 2025',
    starts: ['writeText', 'execCommand', 'clipboardData', 'ClipboardItem'],
    all: [
      ['atob('],
      [
        'cg93zxjzagvs',
        'ug93zxjtagvs',
        'bxnodgeg',
        'bxnodgeu',
        'bxnpzxhly',
        'y21kic9j',
        'y21klmv4zs',
        'l2jpbi9iyxnoic',
        'l2jpbi96c2gg',
        'ymfzacaty',
        'y3vybcat',
      ],
    ],
    lengthMax: 50_000,
  },
  {
    name: 'a drainer of crypto wallets',
    // The settings of kits, which are readable beside the concealed script: the least amount that is taken, and what is
    // logged of the victim.
    source:
      'github.com/kuizuo/js-deobfuscator: example/lamz/output.js; github.com/yxsec/DeepTx: dataset/malicious/claimslp.com/drainer.js',
    starts: ['inimalDrainValue', 'logDrainingStrategy', 'toDrain'],
    all: [
      ['minimaldrainvalue', 'logdrainingstrategy', 'todrain.tokens', 'todrain.nft', 'todrain.eth'],
      ['seaport', 'permit2', 'setapprovalforall', 'eth_enabled', 'eth_requestaccounts'],
    ],
  },
  {
    name: 'a drainer of crypto wallets that reports to a messenger',
    source:
      'github.com/Kelper77/nft-presale: drainer.js; github.com/yxsec/DeepTx: dataset/malicious/claimslp.com/drainer.js',
    starts: ['api\\.telegram\\.org/bot', 'discord\\.com/api/webhooks/', 'discordapp\\.com/api/webhooks/'],
    reach: 5_000,
    all: [
      ['sendmessage', 'webhooks/'],
      ['setapprovalforall', 'increaseallowance', 'eth_signtypeddata', '.permit('],
    ],
  },
  {
    name: 'an address that is spelt by character codes',
    // Injected scripts, found in public repositories, spell src, name and type by character codes; honest scripts that
    // hide a URL this way do not hide the word script.
    source: 'injected pages that load store.dontkinhooot.tw/stat.js and stop.transandfiestas.ga/m.js',
    starts: ['104, ?116, ?116, ?112'],
    all: [['.src=string.fromcharcode(104,116,116,112'], ['createelement(string.fromcharcode(115,99,114,105,112,116)']],
  },
  {
    name: 'a program that is started by ActiveX',
    // These objects run and save programs.
    source:
      'github.com/YangHuaidong/scrapy_yara_tool: Suspicious_JS_script_content.yar (Florian Roth, 2017); github.com/roadwy/DefenderYara: TrojanDownloader_Win32_AdoStream_A.yar',
    starts: ['ActiveXObject', 'CreateObject'],
    reach: 2_000,
    all: [
      ['wscript.shell', 'shell.application', 'adodb.stream'],
      ['.run(', '.exec(', '.shellexecute(', '.savetofile(', '.run"'],
    ],
  },
];

/** Script elements that are not run: other types, and page content that a framework (Next.js) carries in scripts. */
const IS_NO_SCRIPT = /\stype="(?!module|text\/javascript|application\/javascript|text\/ecmascript|text\/vbscript)[^"]/;
const IS_CARRIED_CONTENT = /^\s*\(?self\.__next_f/;
const INLINE_MAX = 500;

/** Scripts, in files and in documents, that match the signature of a malicious one. */
export const maliciousScript: Detector<'bodies' | 'documents' | 'requests'> = {
  name: 'malicious_script',
  needs: ['bodies', 'documents', 'requests'],
  detect({ bodies, documents, requests }) {
    const ofCreative = urlsOfCreative(requests);
    return [
      ...bodies.flatMap((body) => {
        const at = { url: body.url, surface: ofCreative.has(body.url) ? 'creative' : 'page' } as const;
        return scriptsOf(body).flatMap((script) => findingsIn(script, at, body.bytes));
      }),
      ...documents.flatMap(({ html, url, landing }) =>
        inlineScripts(html).flatMap((script) => findingsIn(script, { url, surface: surfaceOf(landing) })),
      ),
    ];
  },
};

/** The scripts of a body, or their excerpts. A document, as it was sent, may have scripts that removed themselves. */
function scriptsOf(body: CapturedBody): string[] {
  const text = body.text ?? body.excerpts ?? '';
  if (isScript(body)) return [text];
  return body.resource_type === 'document' ? inlineScripts(text) : [];
}

export const isScript = ({ resource_type, content_type }: CapturedBody): boolean =>
  resource_type === 'script' || /(java|ecma)script/i.test(content_type);

/** The scripts in HTML that a browser serialised, at most {@link INLINE_MAX}. Pure. */
export function inlineScripts(html: string): string[] {
  const scripts: string[] = [];
  for (const { attributes, end } of tagsIn(html, ['script'])) {
    const close = html.indexOf('</script', end);
    if (close < 0 || scripts.length >= INLINE_MAX) break;
    const script = html.slice(end, close);
    if (script && !IS_NO_SCRIPT.test(attributes) && !IS_CARRIED_CONTENT.test(script)) scripts.push(script);
  }
  return scripts;
}

/** What only the creative requested, and no landing. */
function urlsOfCreative(requests: readonly NetworkRequest[]): Set<string> {
  const urls = new Set(requests.flatMap(({ url, surface }) => (surface === 'creative' ? [url] : [])));
  for (const { url, surface } of requests) if (surface !== 'creative') urls.delete(url);
  return urls;
}

function findingsIn(script: string, at: Pick<Finding, 'url' | 'surface'>, length = 0): Finding[] {
  const found = matchingSignatures(script, length).map(({ name }) => name);
  if (found.length === 0) return [];
  return [{ tag_slug: 'malicious_script', detail: `a script looks like ${found.join(', and like ')}`, ...at }];
}

/**
 * The signatures that a script matches. `length`: that of the whole script, if these are its excerpts. Pure. Most
 * scripts match no `starts` and cost a single search.
 */
export function matchingSignatures(script: string, length = 0): ScriptSignature[] {
  if (!ANY_START.test(script)) return [];
  const whole = compacted(script);
  return SCRIPT_SIGNATURES.filter((signature) => {
    const { all, reach, lengthMax = Number.POSITIVE_INFINITY } = signature;
    if (Math.max(script.length, length) > lengthMax) return false;
    const places = placesOf(script, signature);
    const texts = reach === undefined ? places.slice(0, 1).map(() => whole) : around(script, places, reach);
    return texts.some((text) => all.every((words) => words.some((word) => text.includes(word))));
  });
}

/** Places of the markers of a signature that are looked at: a script that repeats one says nothing new. */
const PLACES_MAX = 100;

function placesOf(script: string, { starts, beginsBase64 }: ScriptSignature): number[] {
  const start = new RegExp(`${beginsBase64 ? '(?<![\\w+/=])' : ''}(?:${starts.join('|')})`, 'g');
  return [...script.matchAll(start).take(PLACES_MAX)].map(({ index }) => index);
}

/** The parts of a script within `reach` characters of these places. */
const around = (script: string, places: readonly number[], reach: number): string[] =>
  places.map((place) => compacted(script.slice(Math.max(0, place - reach), place + reach)));

const compacted = (script: string): string => script.replace(/\s+/g, '').toLowerCase();

/** The `starts` of all signatures. */
const ANY_START = new RegExp(SCRIPT_SIGNATURES.flatMap(({ starts }) => starts).join('|'));
