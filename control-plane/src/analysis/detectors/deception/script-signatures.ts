/**
 * What a script does that no honest one does. `starts` (regular expressions without repetitions, in the letter case in which they are
 * written) are rare in other scripts: one of them is looked for before anything else. `all`: one word of each group, compared in lower case
 * and without white space. Our own words, after the reports that are named.
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
    source: 'Sansec, "What is Magecart?", and its reports on skimmers whose address is hidden by atob',
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
    source: 'Microsoft Threat Intelligence on phishing kits that send what was typed to messengers (2023 to 2025)',
    starts: ['api\\.telegram\\.org/bot', 'discord\\.com/api/webhooks/', 'discordapp\\.com/api/webhooks/'],
    all: [
      ['sendmessage', 'webhooks/'],
      ['password', 'passwd', 'seedphrase', 'mnemonic', 'document.cookie'],
    ],
  },
  {
    name: 'code that is fetched from a blockchain',
    source: 'Guardio Labs, "EtherHiding" (2023)',
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
    source: 'Proofpoint, "ClickFix" (2024)',
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
    source: 'Sucuri on the "Balada" injector (2023)',
    starts: ['104, ?116, ?116, ?112', '0x68, ?0x74, ?0x74, ?0x70'],
    all: [
      ['fromcharcode(104,116,116,112', 'fromcharcode(0x68,0x74,0x74,0x70'],
      ['.src', 'location', 'createelement', 'eval('],
    ],
  },
  {
    name: 'a frame or script that is written in code',
    source: 'Trend Micro and SANS on landing pages of exploit kits (2012 to 2017)',
    starts: ['%3[cC]%69%66%72', '%3[cC]%73%63%72', '%3[cC]%6[fF]%62'],
    all: [
      ['unescape', 'decodeuricomponent'],
      ['%3c%69%66%72%61%6d%65', '%3c%73%63%72%69%70%74', '%3c%6f%62%6a%65%63%74'],
      ['document.write', 'eval(', 'innerhtml'],
    ],
  },
  {
    name: 'a program that is started by ActiveX',
    source: 'Microsoft, documentation of WScript.Shell, Shell.Application and ADODB.Stream',
    starts: ['ActiveXObject', 'CreateObject'],
    all: [
      ['wscript.shell', 'shell.application', 'adodb.stream'],
      ['.run(', '.exec(', '.shellexecute(', '.savetofile(', '.run"'],
    ],
  },
  {
    name: 'a drainer of wallets',
    source: 'Check Point and ScamSniffer on drainers (2023 to 2025)',
    starts: ['setApprovalForAll', 'increaseAllowance', 'eth_signTypedData_v4'],
    all: [
      ['drainer', 'drain_', 'drainwallet', 'api.telegram.org/bot'],
      ['permit', 'approve', 'allowance', 'transferfrom'],
    ],
  },
];
