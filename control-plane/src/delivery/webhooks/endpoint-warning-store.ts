import type { Collection } from '../../platform/store.ts';
import type { EndpointRecord, Warning } from './endpoint.ts';

/** An endpoint with a mail that is to be sent. */
type WarnedEndpoint = EndpointRecord & { warning: Warning };

/** The mails about endpoints that fail, each sent by one process at a time. */
export function endpointWarnings(endpoints: Collection<EndpointRecord>) {
  return {
    /** Takes the endpoint whose warning has been due longest, until `until`; null: none is due. */
    async takeWarning(now: Date, until: Date): Promise<WarnedEndpoint | null> {
      const update = { $set: { 'warning.due_at': until }, $inc: { 'warning.tries': 1 } };
      const options = { sort: { 'warning.due_at': 1 }, returnDocument: 'after' } as const;
      const taken = await endpoints.findOneAndUpdate({ 'warning.due_at': { $lte: now } }, update as object, options);
      return taken as WarnedEndpoint | null;
    },

    /** Ends a try of a warning. `dueAt`: when it is due again; null: never. */
    async endWarning({ _id, organization_id, warning }: WarnedEndpoint, dueAt: Date | null): Promise<void> {
      const update = dueAt ? { $set: { 'warning.due_at': dueAt } } : { $unset: { warning: '' } };
      // Another warning may have taken its place meanwhile.
      await endpoints.updateOne({ _id, organization_id, 'warning.at': warning.at }, update as object);
    },
  };
}
