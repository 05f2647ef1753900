/** The files, sections, scripts, commands and statuses in the guides exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { runTyped } from '../support/command.ts';

const root = join(import.meta.dirname, '..', '..');
const GUIDES = [
  ...['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...globSync('docs/**/*.md', { cwd: root }),
];

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The anchors of the headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

t.test('links lead somewhere', (t) => {
  for (const guide of GUIDES) {
    for (const [, target = ''] of read(guide).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? guide : relative(root, join(root, dirname(guide), path));
      t.ok(existsSync(join(root, file)), `${guide}: ${target}`);
      if (anchor !== undefined) t.ok(anchorsOf(read(file)).includes(anchor), `${guide}: ${target}`);
    }
  }
  t.end();
});

t.test('folders, files, scripts and commands are there', async (t) => {
  const help = (await runTyped(root, ['help'])).said;
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const guide of GUIDES) {
    const text = read(guide);
    for (const [, path = ''] of text.matchAll(/`((?:src|sandbox|test|examples|deploy|bin)\/[\w./-]*)`/g)) {
      t.ok(existsSync(join(root, path)), `${guide}: ${path}`);
    }
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?(\w[\w-]*)/g))
      t.ok(script in scripts, `${guide}: ${script}`);
    for (const [, command = ''] of text.matchAll(/npm run isolayer -- ([\w-]+)/g)) {
      t.match(help, `\n  ${command}`, `${guide}: ${command}`);
    }
  }
});
