import path from 'node:path';
import * as nodeQuerystring from 'node:querystring';
import * as nodeUrl from 'node:url';
import t from 'tap';
import { create } from '../../../../guest/lazy/legacy-url.ts';
import { createModuleTable } from '../../../../guest/lazy/modules.ts';
import { domainToASCII, fileURLToPath, pathToFileURL, urlToHttpOptions } from '../../../../guest/node/file-url.ts';
import { createPath } from '../../../../guest/node/path.ts';
import { unbound } from '../../../support/guest-web.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

t.test('path', async (t) => {
  const ours = createPath() as unknown as typeof path.posix;
  const PATHS = [
    '',
    '/',
    '//',
    '.',
    '..',
    './',
    '../',
    'a',
    'a/',
    '/a',
    '/a/',
    '//a',
    '//a//b//',
    'a/b/../c',
    '../../a',
  ];
  const MORE = [
    '/../a',
    'a.b',
    '.a',
    '.a.b',
    'a.',
    '..a',
    '...',
    'a/.b',
    'a/../..',
    '/a/b.txt/',
    'a//b',
    'a b',
    '/a//',
  ];

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
});

t.test('file url', async (t) => {
  const { resolve } = createPath() as { resolve(path: unknown): string };
  const ours = {
    fileURLToPath,
    domainToASCII,
    urlToHttpOptions,
    pathToFileURL: (path: unknown) => pathToFileURL(path, resolve),
  } as unknown as typeof nodeUrl;

  t.test('paths and URLs become each other as in Node', async (t) => {
    const urls = [
      'file:///a/b%20c',
      'file:///',
      'file://host/a',
      'http://a/b',
      'file:///a%2Fb',
      'file:///%E2%82%AC',
      'nope',
    ];
    const paths = ['/a b', '/a?b#c', '/100%', '/a/', '/a\\b', '/\n', '/€'];
    await sameAsNode(t, ours, nodeUrl, {
      ...Object.fromEntries(urls.map((url) => [url, (module: typeof nodeUrl) => module.fileURLToPath(url)])),
      ...Object.fromEntries(paths.map((path) => [path, (module: typeof nodeUrl) => module.pathToFileURL(path).href])),
      object: (module) => module.fileURLToPath(new URL('file:///x')),
      'no URL': (module) => module.fileURLToPath(5 as never),
      'no path': (module) => module.pathToFileURL(5 as never),
      options: (module) => ({ ...module.urlToHttpOptions(new URL('https://u:p%40@[::1]:8080/a?b#c')) }),
      'fewer options': (module) => ({ ...module.urlToHttpOptions(new URL('https://a')) }),
      domains: (module) =>
        ['español.com', 'xn--iñvalid.com', 'a.b', '中文.com'].map((name) => module.domainToASCII(name)),
    });
  });
});

t.test('querystring', async (t) => {
  type Module = typeof nodeQuerystring & { unescapeBuffer(text: string): Buffer };
  const ours = createModuleTable({ ...unbound, global: {}, large: () => ({}) })('querystring') as Module;
  const theirs = nodeQuerystring as unknown as Module;

  t.test('queries are what Node makes of them', async (t) => {
    const attempts: Record<string, (module: Module) => unknown> = {};
    const texts = [
      '',
      'a=b',
      'a=b&a=c&a=d',
      'a&b=',
      '=x',
      '&&a=1&&',
      'a=b=c',
      'a%20b=c+d',
      '%zz=%E0%A4%A',
      'a=%F0%9F%98%80',
    ];
    for (const text of [...texts, '__proto__=1&a=2', 'x=1;y:2', 'a%=1', '%', '+=+', 'ü=ä', 'a=%C3%A4%zz']) {
      attempts[text] = (q) => [
        ...[q.parse(text), q.parse(text, ';', ':'), q.parse(text, undefined, undefined, { maxKeys: 1 })],
        ...[q.unescape(text), q.escape(text), q.unescapeBuffer(text).toString('hex')],
        q.parse(text, undefined, undefined, {
          decodeURIComponent(part) {
            if (part.includes('b')) throw new Error('broken');
            return `<${part}>`;
          },
        }),
      ];
    }
    const values = [
      { a: 1, b: 'x y', c: [1, '2', true, null], d: null, e: undefined, f: {}, g: Number.NaN, h: 10n, i: false },
      { ü: "!'()*~-._", list: [], inf: Number.POSITIVE_INFINITY, date: new Date(0) },
      ...[null, 5, 'text', [], ['x', 'y'], { '': '' }],
    ] as never[];
    for (const [index, value] of values.entries()) {
      attempts[`value ${index}`] = (q) => [
        ...[q.stringify(value), q.stringify(value, ';', ':')],
        q.stringify(value, undefined, undefined, { encodeURIComponent: (part) => `<${part}>` }),
      ];
    }
    await sameAsNode(t, ours, theirs, attempts);
  });

  t.test('what has no encoding throws', (t) => {
    t.throws(() => ours.escape('\ud800'), { code: 'ERR_INVALID_URI', name: 'URIError' });
    t.end();
  });
});

t.test('url.parse and the like do as Node’s, without its warnings', async (t) => {
  const made = create() as unknown as typeof nodeUrl & { punycode: { encode(text: string): string } };
  const lines = t.capture(console, 'warn');
  const plain = (url: object) => ({ ...url });
  await sameAsNode<typeof nodeUrl>(t, made, nodeUrl, {
    parse: (url) => plain(url.parse('http://u:p@a.b:1/c?d=e#f', true)),
    'parse again': (url) => {
      const parsed = url.parse('http://a');
      return url.parse(parsed as unknown as string) === parsed;
    },
    resolve: (url) => [url.resolve('http://a/b/c', '../d'), url.resolve('/a/b', 'c'), url.parse('/a/b').href],
    format: (url) => [
      url.format('http://A/b'),
      url.format({ host: 'a', pathname: 'b c' }),
      url.format(new URL('http://a/b#c'), { fragment: false }),
    ],
  });
  t.throws(() => made.parse(5 as never), { code: 'ERR_INVALID_ARG_TYPE' });
  const { resolveObject } = made as unknown as { resolveObject(from: string, to: string): { href: string } };
  t.equal(resolveObject('/a', 'b').href, '/b');
  t.equal(resolveObject('', 'b'), 'b');
  t.equal(made.punycode.encode('ü'), 'tda');
  t.strictSame(lines(), []);
});
