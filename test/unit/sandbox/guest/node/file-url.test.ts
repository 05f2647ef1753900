import * as node from 'node:url';
import t from 'tap';
import {
  domainToASCII,
  fileURLToPath,
  pathToFileURL,
  urlToHttpOptions,
} from '../../../../../sandbox/guest/node/file-url.ts';
import { createPath } from '../../../../../sandbox/guest/node/path.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

const { resolve } = createPath() as { resolve(path: unknown): string };
const ours = {
  fileURLToPath,
  domainToASCII,
  urlToHttpOptions,
  pathToFileURL: (path: unknown) => pathToFileURL(path, resolve),
} as unknown as typeof node;

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
  await sameAsNode(t, ours, node, {
    ...Object.fromEntries(urls.map((url) => [url, (module: typeof node) => module.fileURLToPath(url)])),
    ...Object.fromEntries(paths.map((path) => [path, (module: typeof node) => module.pathToFileURL(path).href])),
    object: (module) => module.fileURLToPath(new URL('file:///x')),
    'no URL': (module) => module.fileURLToPath(5 as never),
    'no path': (module) => module.pathToFileURL(5 as never),
    options: (module) => ({ ...module.urlToHttpOptions(new URL('https://u:p%40@[::1]:8080/a?b#c')) }),
    'fewer options': (module) => ({ ...module.urlToHttpOptions(new URL('https://a')) }),
    domains: (module) =>
      ['español.com', 'xn--iñvalid.com', 'a.b', '中文.com'].map((name) => module.domainToASCII(name)),
  });
});
