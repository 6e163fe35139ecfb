import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CARRIED_CORPUS, corpusData } from '../../../shared/test/support/corpus-data.ts';
import { BUILDS, patternHash } from '../build-sets.ts';
import { fetchCorpus, type GitSource, readManifest, type Sources } from '../fetch.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function temporaryFolder(test: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const VAST = '<VAST version="4.2"/>\r\n';
const REQUESTS = [
  { url: 'https://ads.example/4', type: 'script', filters: ['||ads.example^'] },
  { url: 'https://ads.example/2', type: 'image', filters: ['||ads.example^$image'] },
  { url: 'https://ads.example/5', type: 'image', filters: ['/5|'] },
];

/** A git repository on disk with these files in its only commit, the source of one file that is copied and one that is built. */
function repository(test: TestContext) {
  const folder = temporaryFolder(test);
  const files = { 'samples/one file.xml': VAST, 'data/requests.json': JSON.stringify(REQUESTS, null, 2) };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'core.autocrlf=false'];
    const { status, stdout, stderr } = spawnSync('git', ['-C', folder, ...identity, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  git('init', '--quiet');
  git('config', 'uploadpack.allowFilter', 'true');
  git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  git('add', '.');
  git('commit', '--quiet', '--message', 'samples');
  const built = '[\n{"url":"https://ads.example/2","filters":["||ads.example^$image"]}\n]\n';
  const source: GitSource = {
    ...{ name: 'samples', repository: pathToFileURL(folder).href, commit: git('rev-parse', 'HEAD'), licence: 'MIT' },
    files: [
      { path: 'samples/one file.xml', to: 'vast/xml/one.xml', sha256: sha256(VAST) },
      { path: 'data/requests.json', to: 'requests.json', build: 'ad-requests', sha256: sha256(built) },
    ],
  };
  return { folder, source, built };
}

const only = (...sources: GitSource[]): Sources => ({ sources, packages: [], carried: [] });

async function run(manifest: Sources, folder: string) {
  const lines: string[] = [];
  const problems = await fetchCorpus(manifest, folder, (line) => lines.push(line));
  return { lines, problems };
}

describe('npm run corpus -- fetch', () => {
  it('writes the files of a commit byte for byte, and builds sets from them', async (test) => {
    const { source, built } = repository(test);
    const folder = temporaryFolder(test);
    assert.deepEqual(await run(only(source), folder), { lines: ['samples: stored 2'], problems: [] });
    assert.equal(readFileSync(join(folder, 'vast/xml/one.xml'), 'utf8'), VAST);
    assert.equal(readFileSync(join(folder, 'requests.json'), 'utf8'), built);
  });

  it('finds a commit by the beginning of its id', async (test) => {
    const { source } = repository(test);
    const folder = temporaryFolder(test);
    const { problems } = await run(only({ ...source, commit: source.commit.slice(0, 12) }), folder);
    assert.deepEqual(problems, []);
    assert.ok(existsSync(join(folder, 'requests.json')));
  });

  it('refuses a file whose hash differs, names both hashes, and brings the other sources', async (test) => {
    const { source } = repository(test);
    const folder = temporaryFolder(test);
    const [first, second] = source.files as [GitSource['files'][0], GitSource['files'][0]];
    const wrong = { ...source, name: 'wrong', files: [{ ...first, sha256: sha256('something else') }] };
    const { lines, problems } = await run(only(wrong, { ...source, files: [second] }), folder);
    assert.deepEqual(problems, [
      `wrong: vast/xml/one.xml has the SHA-256 ${sha256(VAST)}, not ${sha256('something else')}`,
    ]);
    assert.deepEqual(lines, ['samples: stored 1']);
    assert.ok(!existsSync(join(folder, 'vast/xml/one.xml')));
  });

  it('continues where another run ended: what is there is neither fetched nor written again', async (test) => {
    const { folder: origin, source } = repository(test);
    const folder = temporaryFolder(test);
    await run(only(source), folder);
    rmSync(join(folder, 'requests.json'));
    renameSync(origin, `${origin}-away`);
    test.after(() => rmSync(`${origin}-away`, { recursive: true, force: true }));
    const without = await run(only(source), folder);
    assert.match(without.problems.join(), /^samples: git fetch: .*does not appear to be a git repository/s);
    renameSync(`${origin}-away`, origin);
    assert.deepEqual(await run(only(source), folder), { lines: ['samples: stored 1'], problems: [] });
    renameSync(origin, `${origin}-away`);
    assert.deepEqual(await run(only(source), folder), { lines: ['samples: already present'], problems: [] });
  });

  it('replaces a file that was changed', async (test) => {
    const { source } = repository(test);
    const folder = temporaryFolder(test);
    await run(only(source), folder);
    writeFileSync(join(folder, 'vast/xml/one.xml'), 'changed');
    assert.deepEqual(await run(only(source), folder), { lines: ['samples: stored 1'], problems: [] });
    assert.equal(readFileSync(join(folder, 'vast/xml/one.xml'), 'utf8'), VAST);
  });
});

describe('the manifest of the corpora', () => {
  const manifest = readManifest();
  const files = [...manifest.sources, ...manifest.packages].flatMap((source) => source.files);

  it('names each file once, with its hash, its licence and where it is from', () => {
    const all = [...files, ...manifest.carried];
    assert.equal(new Set(all.map(({ to }) => to)).size, all.length);
    for (const { to, sha256: hash } of all) assert.match(hash, /^[0-9a-f]{64}$/, to);
    for (const { name, commit, licence, repository: url } of manifest.sources) {
      assert.match(commit, /^[0-9a-f]{12,40}$/, name);
      assert.ok(licence && url.startsWith('https://'), name);
    }
  });

  it('has the right hashes of carried files and packages, which need no network', async (test) => {
    const folder = temporaryFolder(test);
    const { problems } = await run({ ...manifest, sources: [] }, folder);
    assert.deepEqual(problems, []);
    for (const { to } of manifest.carried) assert.ok(existsSync(join(folder, to)), to);
  });

  it('lists every VAST document that has expected values', () => {
    const expected: { file: string }[] = JSON.parse(readFileSync(join(CARRIED_CORPUS, 'vast-expected.json'), 'utf8'));
    const listed = files.map(({ to }) => to).filter((to) => to.startsWith('vast/'));
    assert.deepEqual(listed.sort(), expected.map(({ file }) => `vast/${file}`).sort());
  });
});

describe('a built set', () => {
  it('of patterns has every second one once, with entities decoded and the verdict of RE2', () => {
    const source = Buffer.from('5\n&lt;a\\s*href=(.*?)&gt;\n5\n(?!a)b\ngdrbfg\n\n');
    const rows = JSON.parse(BUILDS.patterns!(source, new Set([patternHash('(?!a)b')])));
    assert.deepEqual(rows, [
      { pattern: '5', re2Ok: true },
      { pattern: '<a\\s*href=(.*?)>', re2Ok: true },
      { pattern: '(?!a)b', re2Ok: false },
    ]);
  });

  it('of attacks has their texts with the number of repetitions', async () => {
    const block = (id: number, pattern: string, attack: string) =>
      `${id}\n${pattern}\nRESULT-TRUE\nEXPONENT\nnums:1\nEXPONENT\tAttackString:${attack}\n++++++++++\n`;
    const source = `time: 3.8\n${block(16, '^\\d*[0-9](|.\\d*[0-9]|)*$', '"0"+"\\t"*32+"!"')}${block(18, '^(([a-zA-Z]:)|(\\\\{2}\\w+)\\$?)(\\\\(\\w[\\w ]*.*))+\\.((html|HTML)|(htm|HTM))$', '"a:"+"\\\\0 0"*16')}`;
    const rows = JSON.parse(BUILDS.attacks!(Buffer.from(source), new Set()));
    assert.deepEqual(
      rows.map(({ id, attacks }: { id: number; attacks: object[] }) => ({ id, attacks })),
      [
        {
          id: 16,
          attacks: [
            {
              kind: 'EXPONENT',
              parts: [
                { s: '0', n: 1 },
                { s: '\t', n: 32 },
                { s: '!', n: 1 },
              ],
            },
          ],
        },
        { id: 18, attacks: [{ kind: 'EXPONENT' }] },
      ],
    );
  });
});

describe('the data folder', () => {
  it('is the one that ADSWEEP_CORPUS_DIR names; missing data is skipped with a reason', (test) => {
    const folder = temporaryFolder(test);
    mkdirSync(join(folder, 'vast'));
    const environment = { ADSWEEP_CORPUS_DIR: folder };
    assert.deepEqual(corpusData('vast', environment), { path: join(folder, 'vast'), skip: false });
    assert.deepEqual(
      corpusData('taxonomy', environment).skip,
      'taxonomy is not there: ADSWEEP_CORPUS_DIR does not have it',
    );
  });

  it('falls back to files that the repository carries', (test) => {
    const { path, skip } = corpusData('url/psl-tests.tsv', { ADSWEEP_CORPUS_DIR: temporaryFolder(test) });
    assert.deepEqual({ path, skip }, { path: join(CARRIED_CORPUS, 'url/psl-tests.tsv'), skip: false });
  });
});
