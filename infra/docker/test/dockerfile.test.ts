import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { it } from 'node:test';
import { readSources, workspaces } from '../../checks/read-imports.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(TOP, path), 'utf8');

/** The stages of the Dockerfile with what each copies from the repository, and from which other stages it takes all of theirs. */
const stages = new Map(
  read('infra/docker/Dockerfile')
    .split(/^(?=FROM )/m)
    .flatMap((text) => {
      const [, base = '', name = ''] = /^FROM (\S+) AS (\S+)/.exec(text) ?? [];
      const copies = [...text.matchAll(/^COPY (.+)$/gm)].map(([, words = '']) => words.split(' '));
      const isOption = (word: string) => word.startsWith('--');
      const paths = copies
        .filter((words) => !words.some((word) => word.startsWith('--from=')))
        .flatMap((words) => words.filter((word) => !isOption(word)).slice(0, -1));
      const from = copies.flatMap((words) => words.flatMap((word) => /^--from=(.+)/.exec(word)?.[1] ?? []));
      return name === '' ? [] : [[name, { paths, parents: [base, ...from] }] as const];
    }),
);

/** What is in an image of the repository: its own copies, and those of the stages that it builds on or copies from. */
const pathsIn = (stage: string): string[] => {
  const { paths, parents } = stages.get(stage) ?? { paths: [], parents: [] };
  return [...paths, ...parents.flatMap(pathsIn)];
};

const isBelow = (path: string, folder: string) =>
  path === folder || path.startsWith(`${folder}/`) || matchesGlob(path, folder);

it('every path that the Dockerfile copies exists, and the builder gets it', () => {
  const all = [...stages.values()].flatMap(({ paths }) => paths);
  assert.ok(all.length > 15);
  const lines = read('infra/docker/Dockerfile.dockerignore').split('\n');
  const sent = lines.flatMap((line) => /^!(.+)/.exec(line)?.[1] ?? []);
  for (const path of all) {
    assert.ok(globSync(path, { cwd: TOP }).length > 0, `${path} does not exist`);
    assert.ok(
      sent.some((one) => isBelow(path, one)),
      `${path} is not in Dockerfile.dockerignore`,
    );
  }
  for (const path of sent)
    assert.ok(
      all.some((one) => isBelow(path, one)),
      `nothing copies ${path}`,
    );
});

it('the packages of images are installed with the manifest of each workspace, as the lock file has them', () => {
  const { workspaces: declared } = JSON.parse(read('package.json')) as { workspaces: string[] };
  assert.deepEqual(declared.toSorted(), workspaces.toSorted());
  const copied = pathsIn('manifests').filter((path) => path.endsWith('/package.json'));
  assert.deepEqual(copied.toSorted(), declared.map((folder) => `${folder}/package.json`).toSorted());
});

for (const image of ['control-plane', 'proxy-router', 'browser-node', 'ad-world'])
  it(`the image ${image} has every file that its sources import, and the one that it starts with`, () => {
    const paths = pathsIn(image);
    const isIn = (path: string) => paths.some((one) => isBelow(path, one));
    // What Dockerfile.dockerignore leaves out.
    const sources = readSources(TOP).filter(({ path }) => isIn(path) && !path.startsWith('infra/demo/test/'));
    assert.ok(sources.length > 20);
    const missing = sources.flatMap(({ path, imports }) =>
      imports.flatMap(({ file }) =>
        file === null || (isIn(file) && existsSync(join(TOP, file))) ? [] : `${path}: ${file}`,
      ),
    );
    assert.deepEqual(missing, []);
    const [, text = ''] =
      new RegExp(`^FROM runtime AS ${image}\\n(.*?)(?=^FROM |$(?![^]))`, 'ms').exec(read('infra/docker/Dockerfile')) ??
      [];
    const started = [...text.matchAll(/"([\w/.-]+\.(?:ts|mjs))"/g)].map(([, path = '']) => path);
    assert.equal(started.length, 2);
    for (const path of started) assert.ok(isIn(path) && existsSync(join(TOP, path)), path);
  });
