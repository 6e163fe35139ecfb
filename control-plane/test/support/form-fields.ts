import { Parser } from 'htmlparser2';

/** What a browser would send of the fields of a page that have a name, the first of each. */
export function fieldsIn(page: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let area = '';
  let select = '';
  const parser = new Parser({
    onopentag(tag, { name = '', value = '', type = 'text', ...attributes }) {
      const isSent = !['checkbox', 'radio'].includes(type) || 'checked' in attributes;
      if (tag === 'input' && name !== '' && isSent) fields[name] ??= value;
      if (tag === 'textarea') area = name;
      if (tag === 'select') select = name;
      if (tag === 'option' && select !== '' && (!(select in fields) || 'selected' in attributes))
        fields[select] = value;
    },
    ontext(text) {
      if (area !== '') fields[area] = (fields[area] ?? '') + text;
    },
    onclosetag(tag) {
      if (tag === 'textarea') {
        fields[area] = (fields[area] ?? '').replace(/^\n/, '');
        area = '';
      }
      if (tag === 'select') select = '';
    },
  });
  parser.end(page);
  return fields;
}
