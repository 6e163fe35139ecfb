import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';

/**
 * Writes the hosts of header bidders to standard output, read from the unpacked npm package `prebid.js`:
 * `node infra/tables/bidders.ts <folder> > shared/src/ads/tables/bidders.json`
 * Takes names and hosts only, which are facts; none of the source.
 */
const [folder = '.'] = process.argv.slice(2);
/** Hosts of the project itself, of documentation, schemas and examples. */
const NO_BIDDERS =
  /(?:^|\.)(?:prebid\.org|github\.(?:com|io)|w3\.org|example\.(?:com|org)|schema\.org|iabtechlab\.com|jsdelivr\.net)$/;
const COMMENT = /^\s*(?:\/\/|\/?\*).*$/gm;
/** A host in a string, after a template's prefix such as a region. */
const HOST = /(?:https?:|['"`])\/\/(?:[\w-]*\$\{[^}]*\}\.?)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)/gi;

const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
const files = globSync('modules/*BidAdapter.{js,ts}', { cwd: folder }).filter((file) => !file.endsWith('.d.ts'));
const hostsOf = (file: string): string[] => {
  const text = readFileSync(join(folder, file), 'utf8').replace(COMMENT, '');
  const hosts = [...text.matchAll(HOST)].map(([, host]) => host!.toLowerCase());
  const isBidders = (host: string) =>
    registrableDomain(host).includes('.') && !NO_BIDDERS.test(host) && !/^[\d.]+$/.test(host);
  return [...new Set(hosts)].filter(isBidders).sort();
};
const found = files
  .sort()
  .map((file): [string, string[]] => [basename(file).replace(/BidAdapter\..*/, ''), hostsOf(file)]);
const users = Map.groupBy(
  found.flatMap(([name, hosts]) => hosts.map((host) => ({ name, host }))),
  ({ host }) => host,
);
/** A host that several bidders name belongs to the one whose name it contains, else to the first. */
const ownerOf = (host: string): string => {
  const names = users.get(host)!.map(({ name }) => name);
  return names.find((name) => host.includes(name.toLowerCase())) ?? names[0]!;
};
const bidders = found.flatMap(([name, hosts]): [string, string[]][] => {
  const own = hosts.filter((host) => ownerOf(host) === name);
  return own.length === 0 ? [] : [[name, own]];
});
const source = `hosts named in the bid adapters of the npm package prebid.js ${version}`;
process.stdout.write(
  JSON.stringify(
    { source, licence: 'facts; the package is Apache-2.0', version, bidders: Object.fromEntries(bidders) },
    null,
    2,
  ),
);
