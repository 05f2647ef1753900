/** A piece of a URL without its escapes; as it is where they are none, as in a password with a bare `%`. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What a URL's user-info is on the wire (RFC 7617); undefined where it has none. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(`${unescaped(username)}:${unescaped(password)}`, 'utf8').toString('base64');
}
