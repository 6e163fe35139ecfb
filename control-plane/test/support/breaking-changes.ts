import { apiCompare, type Diff } from 'api-smart-diff';

/** What a change of an OpenAPI document takes away from clients, one text for each place. */
export function breakingChanges(before: object, after: object): string[] {
  return apiCompare(before, after)
    .diffs.filter((diff) => diff.path[0] === 'paths' && isBreaking(diff))
    .map(({ action, path }) => `${action} ${path.join(' ').replace('/', '')}`);
}

/** The library says which changes break clients; three it sees otherwise than we. */
function isBreaking({ action, path, type }: Diff): boolean {
  const isRequest = path.includes('requestBody') || path.includes('parameters');
  // A field that is not known is refused.
  if (isRequest && action === 'remove' && path.at(-2) === 'properties') return true;
  if (action === 'replace' && path.at(-1) === 'type') return true;
  // New values in answers are additions (spec 9.2).
  if (!isRequest && action === 'add' && path.at(-2) === 'enum') return false;
  return type === 'breaking';
}
