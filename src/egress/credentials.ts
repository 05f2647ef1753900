/**
 * Decodes the escapes in a piece of a URL. Returns the piece as it is if they are invalid, as in a password with a bare
 * `%`.
 */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A URL's user-info in the form that is sent (RFC 7617); undefined if it has none. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(`${unescaped(username)}:${unescaped(password)}`, 'utf8').toString('base64');
}
