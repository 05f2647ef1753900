import { ABSENT, WEB_APIS } from './apis.ts';
import type { Findings } from './run-cases.ts';

const HEAD = `# Web APIs in plugins

What plugins have of the web's APIs, and how far it does what the standards say. A test tries the cases in a real isolate:
each is a rule of a standard's text. The page is made by it, and held by it: \`ISOLAYER_WRITE_PAGES=1 npm test --
sandbox/test/integration/web-apis.test.ts\`.

| API | standard | cases | hold |
| --- | --- | --- | --- |
`;

/** Makes the page on web APIs from the results of the cases in a plugin. */
export function webPage(found: Readonly<Record<string, Findings>>): string {
  const rows = Object.entries(WEB_APIS).map(([name, { standard, cases }]) => {
    const holds = Object.values(found[name] ?? {}).filter((text) => text === '').length;
    return { name, standard, all: Object.keys(cases).length, holds };
  });
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const lines = rows.map(({ name, standard, all, holds }) => `| ${name} | ${standard} | ${all} | ${holds} |`);
  lines.push(`| all | | ${sum(({ all }) => all)} | ${sum(({ holds }) => holds)} |`);
  const failing = Object.entries(found).flatMap(([api, findings]) =>
    Object.entries(findings).flatMap(([name, text]) => (text === '' ? [] : [`| ${api} | ${name} |`])),
  );
  const absent = Object.entries(ABSENT).map(([name, reason]) => `| \`${name}\` | ${reason} |`);
  return [
    HEAD + lines.join('\n'),
    `## What does not hold\n\n| API | rule |\n| --- | --- |\n${failing.join('\n')}`,
    `## What is not there\n\n| name | why |\n| --- | --- |\n${absent.join('\n')}`,
  ]
    .join('\n\n')
    .concat('\n');
}
