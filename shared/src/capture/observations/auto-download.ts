import { Type } from 'typebox';
import { ObservedUrl, observationOf } from './observation-of.ts';

/** A download that a document or its frame began without a click: where the file came from, and the name it was to have. */
export const AutoDownloadObservation = observationOf('auto_download', {
  file_url: ObservedUrl,
  file_name: Type.String({ maxLength: 300 }),
});
