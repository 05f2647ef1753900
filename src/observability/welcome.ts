/** What the operator is told in the terminal once the service is ready: where it is, and a first call to paste. */
export function welcome({ address, apiKeyFile }: { address: string; apiKeyFile: string | null }): string {
  const key = apiKeyFile === null ? '$API_KEY' : `$(cat ${shellQuoted(apiKeyFile)})`;
  return [
    '',
    `Isolayer is ready at ${address}`,
    apiKeyFile === null ? 'The API key is the one of the environment.' : `The API key lies in ${apiKeyFile}`,
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
