import type { UsedExit } from '../../scan/ended-scan-store.ts';

/** How an organization used an exit lately; what is known of the exit is what its last scan saw. */
export type ExitUse = Omit<UsedExit, '_id' | 'error'> & {
  scans: number;
  /** Scans that the exit failed: their error begins with `proxy:`. */
  failed: number;
  /** Scans for which the exit check saw another country than the requested one. */
  mismatched: number;
};

/** The uses of exits by organization and exit, the most used first. `scans`: the newest first. Pure. */
export function exitUses(scans: readonly UsedExit[]): ExitUse[] {
  const byUse = Map.groupBy(scans, ({ organization_id, exit }) =>
    JSON.stringify([organization_id, exit.provider, exit.exit_id]),
  );
  return [...byUse.values()]
    .map((uses) => {
      const { organization_id, country_code, exit, completed_at } = uses[0]!;
      return {
        organization_id,
        country_code,
        exit,
        completed_at,
        scans: uses.length,
        failed: uses.filter(({ error }) => error.startsWith('proxy:')).length,
        mismatched: uses.filter(isMismatched).length,
      };
    })
    .sort((one, other) => other.scans - one.scans || other.completed_at.getTime() - one.completed_at.getTime());
}

const isMismatched = ({ country_code, exit }: UsedExit): boolean =>
  exit.verified === true && exit.observed_country_code !== null && exit.observed_country_code !== country_code;
