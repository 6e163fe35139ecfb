import { readFileSync } from 'node:fs';

const table = JSON.parse(readFileSync(new URL('./tables/bidders.json', import.meta.url), 'utf8')) as {
  bidders: Record<string, string[]>;
};
const BIDDERS: ReadonlyMap<string, string> = new Map(
  Object.entries(table.bidders).flatMap(([name, hosts]) => hosts.map((host) => [host, name] as const)),
);

/** The header bidder that answers under a host, or under a name above it; null where there is none. */
export function bidderOf(host: string): string | null {
  const labels = host.split('.');
  for (const at of labels.keys()) {
    const name = BIDDERS.get(labels.slice(at).join('.'));
    if (name !== undefined) return name;
  }
  return null;
}
