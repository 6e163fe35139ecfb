/**
 * What a script does that no honest one does. `starts` (regular expressions without repetitions, in the letter case in which they are
 * written) are rare in other scripts: one of them is looked for before anything else. `all`: one word of each group, compared in lower case
 * and without white space. `source` is where what they look for was published; the words are our own choice of it.
 */
export type ScriptSignature = {
  name: string;
  source: string;
  starts: readonly string[];
  all: readonly (readonly string[])[];
  lengthMax?: number;
};

export const SCRIPT_SIGNATURES: readonly ScriptSignature[] = [
  {
    name: 'a skimmer of card numbers',
    // Rules and deobfuscated skimmers of checkout pages, with `atob` around their addresses and the path of the checkout.
    source: 'github.com/gwillem/magento-malware-scanner: build/all-confirmed.yar, analysis/deobfuscated_js',
    // Base64 of the beginning of an address.
    starts: ['aHR0cHM6Ly', 'aHR0cDovL', 'd3NzOi8v'],
    all: [
      ['atob('],
      ['cardnumber', 'card_number', 'card-number', 'cc_number', 'cc-number', 'ccnumber', 'cc_cid', 'cvv', 'cvc'],
      ['checkout', 'onepage', 'payment', 'order'],
      ['sendbeacon', 'fetch(', 'xmlhttprequest', 'newimage', 'websocket(', '.src='],
    ],
  },
  {
    name: 'a thief of passwords',
    // What a stealer asks of Telegram and Discord, beside the word password; Cofense saw forms that post there.
    source:
      'github.com/chainguard-dev/malcontent: rules/combo/stealer/telegram.yara, rules/exfil/telegram.yara; cofense.com/blog/telegram-utilized-credentials',
    starts: ['api\\.telegram\\.org/bot', 'discord\\.com/api/webhooks/', 'discordapp\\.com/api/webhooks/'],
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
      ['bsc-dataseed', 'bnbchain', 'binance.org', 'polygon-rpc', 'publicnode'],
      ['eval(', 'newfunction(', 'function(atob', 'createelement("script")', "createelement('script')"],
      ['atob(', 'fromcharcode', 'hextostring', 'touint8array', 'parseint('],
    ],
    lengthMax: 20_000,
  },
  {
    name: 'a command that is put into the clipboard to be run',
    // A page that was rebuilt after real ones: execCommand('copy') of "mshta" and an address; Sigma names mshta and powershell.
    source: 'github.com/JohnHammond/recaptcha-phish: index.html; Sigma rule d487ed4a-fd24-436d-a0b2-f4e95f7b2635',
    starts: ['writeText', 'execCommand', 'clipboardData'],
    all: [
      ['powershell', 'mshta', 'cmd/c', 'cmd.exe', 'base64-d'],
      [
        ...['-whidden', '-windowstylehidden', '-wihidden', 'mshtahttp', 'mshta.exehttp', '|iex', 'iex(iwr', 'iex(irm'],
        ...['iex(new-object', 'frombase64string', '-encodedcommand', '|base64-d|bash', '|base64-d|sh'],
      ],
    ],
  },
  {
    name: 'an address that is spelt by character codes',
    // Sites that were injected with a script whose src, name and type are all spelt so, as they stand in public repositories; honest
    // scripts that hide an address so do not hide the word script.
    source: 'injected pages that load store.dontkinhooot.tw/stat.js and stop.transandfiestas.ga/m.js',
    starts: ['104, ?116, ?116, ?112'],
    all: [['.src=string.fromcharcode(104,116,116,112'], ['createelement(string.fromcharcode(115,99,114,105,112,116)']],
  },
  {
    name: 'a program that is started by ActiveX',
    // Scripts that run and save programs by these objects.
    source:
      'github.com/YangHuaidong/scrapy_yara_tool: Suspicious_JS_script_content.yar (Florian Roth, 2017); github.com/roadwy/DefenderYara: TrojanDownloader_Win32_AdoStream_A.yar',
    starts: ['ActiveXObject', 'CreateObject'],
    all: [
      ['wscript.shell', 'shell.application', 'adodb.stream'],
      ['.run(', '.exec(', '.shellexecute(', '.savetofile(', '.run"'],
    ],
  },
];
