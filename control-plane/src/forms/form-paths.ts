import { FORMS, type FormName } from './form-submission.ts';

/** The path of each form, and the path that earlier websites use. */
export const FORM_PATHS: { path: string; form: FormName }[] = FORMS.flatMap((form) => [
  { path: `/api/forms/${form}`, form },
  { path: `/api/v1/${form}`, form },
]);

/** What replaces each legacy path, and since when. */
export const LEGACY_PATHS = {
  successors: new Map(FORMS.map((form) => [`/api/v1/${form}`, `/api/forms/${form}`])),
  since: new Date('2026-11-01T00:00:00Z'),
};
