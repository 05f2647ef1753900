/** The addresses of a started service. */
export interface Whereabouts {
  address: string;
  apiKeyFile: string | null;
  /** Where the console is; null: there is none. */
  consoleAddress: string | null;
  /** A link that signs in to the console once; null: the user signs in with the key. */
  signInLink: string | null;
  /** The ids of the plugins that serve. */
  plugins: readonly string[];
}

/** The plugin that ships. It greets by name. */
const GREETER = 'hello';

/** Returns the text for the terminal once the service is ready: its address, and a first call to paste. */
export function welcome({ address, apiKeyFile, consoleAddress, signInLink, plugins }: Whereabouts): string {
  const key = apiKeyFile === null ? '$API_KEY' : `$(cat ${shellQuoted(apiKeyFile)})`;
  return [
    '',
    `Isolayer is ready at ${address}`,
    apiKeyFile === null ? 'The API key is the one of the environment.' : `The API key is in ${apiKeyFile}`,
    ...browserLines(consoleAddress, signInLink),
    '',
    ...firstCall(`${address}/api/v1`, `curl -H "Authorization: Bearer ${key}"`, plugins),
    '',
    '',
  ].join('\n');
}

/** A call to paste, of something that is there. */
function firstCall(api: string, curl: string, plugins: readonly string[]): string[] {
  const plugin = plugins.includes(GREETER) ? GREETER : plugins[0];
  if (plugin === undefined) return [`  ${curl} ${api}/relayers`];
  const params = plugin === GREETER ? '{"name": "Ada"}' : '{}';
  return [
    `  ${curl} -H 'Content-Type: application/json' \\`,
    `    -d '{"params": ${params}}' ${api}/plugins/${plugin}/call`,
  ];
}

function browserLines(consoleAddress: string | null, signInLink: string | null): string[] {
  if (signInLink !== null) {
    return ['', 'Open the console in a browser. This link works once, within ten minutes:', '', `  ${signInLink}`];
  }
  return consoleAddress === null
    ? []
    : ['', `Open the console in a browser, and sign in with the API key: ${consoleAddress}`];
}

function shellQuoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
