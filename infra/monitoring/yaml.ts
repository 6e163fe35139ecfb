/** A value of JSON as YAML: lists and objects in block style, everything else as in JSON, which is YAML too. */
export function toYaml(value: unknown, indent = ''): string {
  const inner = `${indent}  `;
  if (Array.isArray(value) && value.length > 0)
    return value.map((item) => `${indent}- ${toYaml(item, inner).trimStart()}`).join('');
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && !Array.isArray(value))
    return Object.entries(value)
      .map(([key, item]) => {
        const text = toYaml(item, inner);
        return isBlock(item) ? `${indent}${key}:\n${text}` : `${indent}${key}: ${text.trimStart()}`;
      })
      .join('');
  return `${indent}${JSON.stringify(value)}\n`;
}

const isBlock = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;
