/** The addresses of a started service. */
export interface Whereabouts {
  address: string;
  apiKeyFile: string | null;
  /** A link that signs in to the console once; null: there is no console. */
  signInLink: string | null;
}

/** Returns the text for the terminal once the service is ready: its address, and a first call to paste. */
export function welcome({ address, apiKeyFile, signInLink }: Whereabouts): string {
  const key = apiKeyFile === null ? '$API_KEY' : `$(cat ${shellQuoted(apiKeyFile)})`;
  return [
    '',
    `Isolayer is ready at ${address}`,
    apiKeyFile === null ? 'The API key is the one of the environment.' : `The API key lies in ${apiKeyFile}`,
    ...(signInLink === null
      ? []
      : ['', 'See it in a browser. This link works once, within ten minutes:', '', `  ${signInLink}`]),
    '',
    `  curl -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `    -d '{"params": {"name": "Ada"}}' ${address}/api/v1/plugins/hello/call`,
    '',
    '',
  ].join('\n');
}

function shellQuoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
