import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = '@openzeppelin/relayer-sdk';
/** The file that is written, see {@link sdkText}. */
export const SDK_NAMES = join(ROOT, 'sandbox/guest/sdk/names.ts');

const HEAD = `// Made by \`npm run client\` from the declarations of the public SDK; a test holds it to that. Only names and values of the
// SDK are here. Types that plugins never receive are open records, so that imports of them type-check.
import { client, type Methods, methodsOf } from './rest-clients.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- what they hold is for clients of the service
type Model = Record<string, any>;
`;

/** The names of the public SDK that plugins get and that we do not write ourselves, as a source file. */
export async function sdkText(): Promise<string> {
  const values = (await import(SDK)) as Record<string, object>;
  const own = exportsOf('sandbox/guest/modules/relayer-sdk.ts').filter(({ file }) => file !== SDK_NAMES);
  const written = new Set(own.map(({ name }) => name));
  const names = exportsOf(`node_modules/${SDK}/dist/index.d.ts`)
    .map(({ name }) => name)
    .filter((name) => !written.has(name))
    .sort();
  const apis = names.filter((name) => /^[A-Z]\w+Api$/.test(name));
  const isOfApi = (name: string) =>
    apis.some((api) => new RegExp(`^${api}(Factory|Fp|AxiosParamCreator)?$`).test(name));
  return [
    HEAD,
    ...names.filter((name) => typeof values[name] === 'object').map((name) => enumText(name, values[name] ?? {})),
    ...apis.map((api) => apiText(api, values[api] as unknown as { prototype: object })),
    ...names
      .filter((name) => values[name] === undefined && !isOfApi(name))
      .map((name) => `export type ${name} = Model;`),
    '',
  ].join('\n');
}

function enumText(name: string, values: object): string {
  return `export const ${name} = /* @__PURE__ */ Object.freeze(${JSON.stringify(values)} as const);
export type ${name} = (typeof ${name})[keyof typeof ${name}];`;
}

function apiText(api: string, { prototype }: { prototype: object }): string {
  const list = `${(api[0] ?? '').toLowerCase()}${api.slice(1)}`;
  const methods = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  return [
    `const ${list} = ${JSON.stringify(methods.sort())} as const;`,
    `export const ${api} = /* @__PURE__ */ client('${api}', ${list});`,
    `export type ${api} = Methods<(typeof ${list})[number]>;`,
    ...['Factory', 'Fp', 'AxiosParamCreator'].map(
      (form) => `export const ${api}${form} = /* @__PURE__ */ methodsOf('${api}', ${list});`,
    ),
  ].join('\n');
}

/** What a file exports, types too, each with the file that declares it. */
export function exportsOf(path: string): { name: string; file: string | undefined }[] {
  const file = join(ROOT, path);
  const program = ts.createProgram([file], {
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  });
  const source = program.getSourceFile(file);
  const symbol = source && program.getTypeChecker().getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error(`${path} is no module`);
  return program
    .getTypeChecker()
    .getExportsOfModule(symbol)
    .map((one) => ({ name: one.name, file: one.declarations?.[0]?.getSourceFile().fileName }));
}
