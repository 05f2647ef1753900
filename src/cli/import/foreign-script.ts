import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { z } from 'zod';
import { GUEST_MODULES, STAND_INS } from '../../../sandbox/contract.ts';
import { parseOrReport } from '../../settings/check.ts';
import { readJsonFile } from '../../settings/json-file.ts';
import { ConfigurationFindings } from '../../settings/problems.ts';

/** The host that a script was written for. */
export type ScriptKind = 'gelato' | 'defender';

/** A script of another host, with what its code says of itself. */
export interface ForeignScript {
  kind: ScriptKind;
  folder: string;
  /** The entry, relative to the folder. */
  main: string;
  /** The files that belong to it, relative to the folder. */
  files: string[];
  /** The text of its code. */
  code: string;
  /** The names of secrets and variables that it reads. */
  env: string[];
  hosts: string[];
  /** Packages that it imports and that have to be installed, as `npm install` takes them. */
  packages: { name: string; version: string | undefined }[];
  /** What cannot be taken over, for people. */
  unmapped: string[];
}

const GELATO_SDK = '@gelatonetwork/web3-functions-sdk';
const MAX_FILES = 200;
const CODE = /\.[cm]?[jt]sx?$/;
const LEFT_OUT =
  /(?:^|\/)(?:node_modules\/|\.|.*\.(?:test|spec)\.[^/]*$|(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml)$)/;

/** Reads a script's folder. @throws Error when it is no script of a known host */
export async function readForeignScript(folder: string): Promise<ForeignScript> {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}`);
  const files: string[] = [];
  const found = glob('**', { cwd: folder, withFileTypes: true, exclude: (one) => one.name === 'node_modules' });
  for await (const entry of found) {
    const file = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
    if (entry.isFile() && !LEFT_OUT.test(file)) files.push(file);
    if (files.length > MAX_FILES)
      throw new Error(`${folder} has more than ${MAX_FILES} files: name the script's own folder`);
  }
  files.sort();
  const texts = new Map<string, string>();
  for (const file of files) if (CODE.test(file)) texts.set(file, await readFile(join(folder, file), 'utf8'));
  const { kind, main } = await findMain(folder, texts);
  const code = [...texts.values()].join('\n');
  const imports = [...texts].flatMap(([file, text]) => importsOf(text).map((specifier) => ({ file, specifier })));
  return {
    ...{ kind, folder, main, files, code },
    env: secretsIn(code, kind),
    hosts: hostsIn(code),
    packages: await packagesOf(folder, imports),
    unmapped: [...importProblems(folder, imports), ...unsupportedIn(code, kind)],
  };
}

async function findMain(folder: string, texts: Map<string, string>): Promise<{ kind: ScriptKind; main: string }> {
  const manifest = await readJson(join(folder, 'package.json'));
  const named = (manifest as { main?: unknown } | undefined)?.main;
  const candidates = [
    ...(typeof named === 'string' ? [named.replace(/^\.\//, '')] : []),
    ...['ts', 'js', 'mjs', 'cjs', 'mts', 'cts'].map((end) => `index.${end}`),
    ...texts.keys(),
  ];
  for (const file of candidates) {
    const text = texts.get(file);
    if (text === undefined) continue;
    if (text.includes(GELATO_SDK) && /\bWeb3Function\s*\.\s*onRun\s*\(/.test(text))
      return { kind: 'gelato', main: file };
    if (
      /\bexports\.handler\s*=|\bmodule\.exports\s*=[^;]*\bhandler\b|\bexport\s+(?:async\s+)?(?:function|const|let)\s+handler\b|\bexport\s*\{[^}]*\bhandler\b/.test(
        text,
      )
    ) {
      return { kind: 'defender', main: file };
    }
  }
  throw new Error(
    `${folder} has neither a Web3 Function (Web3Function.onRun in index.ts) nor an Action (exports.handler in index.js)`,
  );
}

const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"]([^'"\n]{1,300})['"]/g;

function importsOf(text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, specifier = '']) => specifier);
}

interface Import {
  file: string;
  specifier: string;
}

/** Nothing else may come into the command that installs them, which a person copies. */
const PACKAGE = /^(?:@\w[\w.-]*\/)?\w[\w.-]*(?=\/|$)/;
const VERSION = /^[\w.^~+-]+$/;

function packageOf(specifier: string): string | undefined {
  return isBuiltin(specifier) ? undefined : PACKAGE.exec(specifier)?.[0];
}

/** The packages that the compiler has to find, with the versions that the nearest `package.json` asks for. */
async function packagesOf(folder: string, imports: readonly Import[]): Promise<ForeignScript['packages']> {
  const names = imports.map(({ specifier }) => packageOf(specifier)).filter((name) => name !== undefined);
  const versions = await nearestVersions(folder);
  return [...new Set(names)]
    .filter((name) => !Object.hasOwn(STAND_INS, name))
    .sort()
    .map((name) => {
      const version = versions.get(name);
      return { name, version: typeof version === 'string' && VERSION.test(version) ? version : undefined };
    });
}

async function nearestVersions(folder: string): Promise<Map<string, unknown>> {
  for (let at = folder; ; at = dirname(at)) {
    const manifest = (await readJson(join(at, 'package.json'))) as Partial<Record<string, object>> | null | undefined;
    if (manifest !== undefined) {
      return new Map(
        [manifest?.['devDependencies'], manifest?.['dependencies']].flatMap((one) => Object.entries(one ?? {})),
      );
    }
    if (dirname(at) === at) return new Map();
  }
}

/** Reads a JSON file; undefined where there is none. @throws Error when it cannot be read */
export async function readJson(file: string): Promise<unknown> {
  if (!existsSync(file)) return undefined;
  const findings = new ConfigurationFindings();
  const read = await readJsonFile(file, file, findings);
  findings.settle();
  return read?.value;
}

/** A value of a file, in its form. @throws Error with each fault */
export function checked<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  const findings = new ConfigurationFindings();
  const parsed = parseOrReport(schema, value, { file, path: '' }, findings);
  findings.settle();
  return parsed as T;
}

function importProblems(folder: string, imports: readonly Import[]): string[] {
  const known: ReadonlySet<string> = new Set(GUEST_MODULES);
  return imports.flatMap(({ file, specifier }) => {
    const isOut = specifier.startsWith('.') && !resolve(folder, dirname(file), specifier).startsWith(folder + sep);
    if (isOut) return [`${file} imports "${specifier}", which is outside of the folder: copy it into the plugin's`];
    if (isBuiltin(specifier) && !known.has(specifier.replace(/^node:/, '')))
      return [`${file} imports "${specifier}", which plugins do not have (docs/node-modules.md)`];
    if (!specifier.startsWith('.') && !isBuiltin(specifier) && packageOf(specifier) === undefined)
      return [`${file} imports "${specifier}", which is neither a file of the folder nor a package`];
    if (/defender-.*\/web3$/.test(specifier)) return [`${file} imports "${specifier}": use ethers in place of web3`];
    if (
      /\bdefender-(?:admin|sentinel|autotask|deploy|as-code|sdk-(?!relay-signer|key-value|base))[\w-]*/.test(specifier)
    )
      return [`${file} imports "${specifier}", which manages Defender itself: leave it out`];
    return [];
  });
}

/** The names of secrets and variables. Names that are made at run time cannot be seen. */
function secretsIn(code: string, kind: ScriptKind): string[] {
  const names = new Set<string>();
  const add = (pattern: RegExp) => {
    for (const [, name = ''] of code.matchAll(pattern)) names.add(name);
  };
  const addTaken = (pattern: RegExp) => {
    for (const [, list = ''] of code.matchAll(pattern)) {
      for (const part of list.split(',')) {
        const name = /^\s*(\w+)/.exec(part)?.[1];
        if (name !== undefined) names.add(name);
      }
    }
  };
  if (kind === 'gelato') add(/\bsecrets\s*\.\s*get\s*\(\s*['"`](\w+)['"`]/g);
  else {
    add(/\bsecrets\s*\??\.\s*(\w+)/g);
    add(/\bsecrets\s*(?:\?\.)?\[\s*['"`](\w+)['"`]\s*\]/g);
    addTaken(/\{([^{}]*)\}\s*=\s*\w+\s*\??\.\s*secrets\b/g);
    addTaken(/\bsecrets\s*:\s*\{([^{}]*)\}/g);
  }
  add(/\bprocess\.env\.(\w+)/g);
  add(/\bprocess\.env\[\s*['"`](\w+)['"`]\s*\]/g);
  addTaken(/\{([^{}]*)\}\s*=\s*process\.env\b/g);
  return [...names].sort();
}

const URL_START = /["'`](https?:\/\/[^"'`\s${}\\/?#]{1,260})(?=["'`\s${}\\/?#])/g;

function hostsIn(code: string): string[] {
  const hosts = [...code.matchAll(URL_START)].map(([, text = '']) => URL.parse(text)?.host ?? '');
  // `https://*.com` in a text is no wish for all of them.
  return [...new Set(hosts.filter((host) => host !== '' && !host.includes('*')))].sort();
}

/** Whether code asks other hosts by itself, as far as that can be seen. */
export function fetches(code: string): boolean {
  return /\bfetch\s*\(|['"](?:axios|axios-retry|ky|got|node-fetch|cross-fetch)['"]/.test(code);
}

const UNSUPPORTED: Readonly<Record<ScriptKind, readonly (readonly [RegExp, string])[]>> = {
  gelato: [
    [
      /\bWeb3FunctionEventContext\b/,
      'It is called for events of a contract: have OpenZeppelin Monitor watch them and call a webhook trigger with { "log": … }',
    ],
    [
      /\bsecrets\s*\.\s*get\s*\(\s*(?!['"`])/,
      'It reads a secret whose name is made at run time: grant it in permissions.env',
    ],
  ],
  defender: [
    [
      /\.(?:listTransactions|getTransactionByNonce)\s*\(/,
      'It looks up transactions by list or nonce: keep the ids of what it sends in the key-value store',
    ],
    [
      /\.(?:replaceTransactionById|replaceTransactionByNonce|cancelTransactionById)\s*\(/,
      'It replaces or cancels transactions: the API of the service does that',
    ],
    [
      /\.(?:_?signTypedData|signMessage)\s*\(|\brelay\w*\.sign\s*\(/i,
      'It signs messages or typed data: the API of the service does that',
    ],
    [
      /\.(?:monitor|proposal|deploy|notificationChannel|approvalProcess|relayGroup|addressBook)\s*\.\s*\w+\s*\(/,
      'It manages Defender itself (monitors, proposals, deployments): leave that out',
    ],
    [
      /\bsecrets\s*(?:\?\.)?\[\s*(?!['"`])/,
      'It reads a secret whose name is made at run time: grant it in permissions.env',
    ],
  ],
};

function unsupportedIn(code: string, kind: ScriptKind): string[] {
  return UNSUPPORTED[kind].flatMap(([pattern, text]) => (pattern.test(code) ? [text] : []));
}
