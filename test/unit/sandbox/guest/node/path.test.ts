import path from 'node:path';
import t from 'tap';
import { createPath } from '../../../../../sandbox/guest/node/path.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

const ours = createPath() as unknown as typeof path.posix;
const PATHS = ['', '/', '//', '.', '..', './', '../', 'a', 'a/', '/a', '/a/', '//a', '//a//b//', 'a/b/../c', '../../a'];
const MORE = ['/../a', 'a.b', '.a', '.a.b', 'a.', '..a', '...', 'a/.b', 'a/../..', '/a/b.txt/', 'a//b', 'a b', '/a//'];

t.test('paths are what Node makes of them on Linux', async (t) => {
  const attempts: Record<string, (module: typeof path.posix) => unknown> = {};
  for (const one of [...PATHS, ...MORE]) {
    attempts[one] = (p) => [
      ...[p.normalize(one), p.dirname(one), p.basename(one), p.extname(one), p.parse(one), p.format(p.parse(one))],
      ...[p.isAbsolute(one), p.toNamespacedPath(one), p.resolve('/r', one), p.basename(one, one)],
    ];
    for (const other of ['', '..', '/x/y', 'x', './x/', '../../..']) {
      attempts[`${one} ${other}`] = (p) => [
        p.join(one, other),
        p.relative(`/${one}`, `/${other}`),
        p.resolve(`/${one}`, other),
      ];
    }
  }
  await sameAsNode(t, ours, path.posix, attempts);
});

t.test('formats, constants, and what is no path', async (t) => {
  const wrong = [5, null, undefined, {}, [], true, () => 1, 10n, Symbol.iterator] as never[];
  await sameAsNode(t, ours, path.posix, {
    formats: (p) => [
      p.format({ dir: 'a', base: 'b' }),
      p.format({ root: '/', name: 'a', ext: 'b' }),
      p.format({ dir: '/', root: '/', base: 'f' }),
      p.format({}),
    ],
    constants: (p) => [p.sep, p.delimiter, p.posix === p, p.win32.sep, p.join()],
    ...Object.fromEntries(
      wrong.flatMap((value, index) =>
        (['normalize', 'dirname', 'join', 'resolve', 'format', 'basename', 'isAbsolute'] as const).map((name) => [
          `${name} ${index}`,
          (p: typeof path.posix) => p[name](value),
        ]),
      ),
    ),
    'a relative path from nothing': (p) => p.relative('/a', 5 as never),
    'a suffix that is none': (p) => p.basename('/a', 5 as never),
  });
});
