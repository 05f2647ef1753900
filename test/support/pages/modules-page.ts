import { isBuiltin } from 'node:module';
import { GUEST_MODULES } from '../../../sandbox/guest-modules.ts';
import { insteadOf } from '../../../src/plugin-host/compiler/absent-modules.ts';
import type { ModuleFinding } from './node-exports.ts';

const HEAD = `# Node's modules in plugins

What plugins have of the modules of Node 26, with or without \`node:\`. A test holds what a plugin finds in a real isolate
against the names that each module of Node exports and the members behind these, but for those that begin with \`_\`; it
has both do the same as well, and compares what comes of it. The page is made by it, and held by it:
\`ISOLAYER_WRITE_PAGES=1 npm test -- test/integration/node-modules.test.ts\`.

- \`complete\`: every name is there.
- \`part\`: what is named is missing, and what throws says so when it is called. \`Name\` *in part* lacks more members than
  are listed here.
- \`stub\`: for packages alone, many of which import it and never call it. Its constants are there; each function throws,
  and says what to do instead. In a file of the plugin itself the import does not compile.
- \`empty\`: as a stub, without any name.

\`path.win32\` has the separators of Windows, and else does as \`path\`.

| module | state | what is missing, or what to do instead |
| --- | --- | --- |
`;

/** The most missing members of one name that are listed. If more are missing, the page only says so. */
const LISTED = 6;

/** Makes the page on Node's modules from what a plugin found of each. */
export function modulesPage(found: Readonly<Record<string, ModuleFinding>>): string {
  const rows = Object.entries(found).map(([name, finding]) => {
    const isProvided = GUEST_MODULES.some((known) => known === name);
    // Some modules exist only with the prefix `node:`.
    const shown = isBuiltin(name) ? name : `node:${name}`;
    return `| \`${shown}\` | ${isProvided ? providedRow(finding) : absentRow(name, finding)} |`;
  });
  return `${HEAD}${rows.join('\n')}\n`;
}

function providedRow({ missing, refusing }: ModuleFinding): string {
  const lacks = [
    ...(missing.length > 0 ? [`missing: ${listed(missing)}`] : []),
    ...(refusing.length > 0 ? [`throws: ${listed(refusing)}`] : []),
  ];
  return lacks.length === 0 ? 'complete | ' : `part | ${lacks.join('; ')}`;
}

function absentRow(name: string, { missing, refusing, working }: ModuleFinding): string {
  const hasFunctions = refusing.length + working.length > 0;
  return `${hasFunctions || missing.length === 0 ? 'stub' : 'empty'} | ${insteadOf(name)}`;
}

function listed(names: readonly string[]): string {
  const byName = Map.groupBy(names, (name) => name.split('.')[0] ?? '');
  return [...byName]
    .flatMap(([name, all]) => (all.length > LISTED ? [`\`${name}\` *in part*`] : all.map((one) => `\`${one}\``)))
    .join(', ');
}
