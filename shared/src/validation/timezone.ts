/** Whether this is the name of an IANA timezone. */
export function isTimezone(name: string): boolean {
  // An offset such as +02:00 is one for Intl, and not for a browser.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
