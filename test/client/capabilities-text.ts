import { z } from 'zod';
import { isObject, type JsonObject } from '../../src/domain/json/json.ts';
import { CAPABILITIES } from '../../src/features/plugins/host/capabilities/all-capabilities.ts';
import type { DeclaredCapability } from '../../src/features/plugins/host/capabilities/capability.ts';
import { typeText } from './api-text.ts';

const HEAD = '// Made by `npm run client` from the capabilities of the plugin host; a test holds it to that.';

/** The objects whose functions are capabilities. */
const OBJECTS = [
  {
    namespace: 'relayer',
    type: 'Relayer',
    about: 'One relayer. Its methods also work when they are taken off the object (`const { rpc } = relayer`).',
  },
  {
    namespace: 'kv',
    type: 'PluginKVStore',
    about:
      "The plugin's own key-value store. A key has 1 to 512 characters of `A-Z a-z 0-9 : _ -`; other keys are rejected.",
  },
];

/** The files of the guest that are made of the capabilities. */
export function capabilityFiles(): readonly { path: string; text: string }[] {
  return [
    { path: 'sandbox/guest/sdk/capabilities.ts', text: typesText() },
    { path: 'sandbox/guest/capability-stubs.ts', text: stubsText() },
  ];
}

/** What each capability takes and answers, and the objects that authors see. */
function typesText(): string {
  const contract = CAPABILITIES.map(
    ({ method, params, result }) => `  '${method}': { params: ${typeOf(params)}; result: ${typeOf(result)} };`,
  );
  const objects = OBJECTS.map(({ namespace, type, about }) => {
    const members = functionsOf(namespace).map(
      (one) => `  /** ${one.about} */\n  ${one.signature ?? signatureOf(one)};`,
    );
    return `/** ${about} */\nexport interface ${type} {\n${members.join('\n')}\n}\n`;
  });
  const code = [...contract, ...objects].join('\n').replaceAll(/\/\*\*.*/g, '');
  const own = ['Promise', ...OBJECTS.map(({ type }) => type)];
  const models = new Set(
    [...code.matchAll(/\b[A-Z][a-z]\w+/g)].map(([name]) => name).filter((name) => !own.includes(name)),
  );
  return [
    HEAD,
    `import type { ${[...models].sort().join(', ')} } from './network-models.ts';\n`,
    '/** What the guest sends for each capability, and what it gets back. */',
    `export interface CapabilityContract {\n${contract.join('\n')}\n}\n`,
    ...objects,
  ].join('\n');
}

/** The objects whose functions only ask the service, but for those that the guest has code of its own for. */
function stubsText(): string {
  const makers = OBJECTS.map(({ namespace, type }) => {
    const functions = functionsOf(namespace);
    const own = functions.filter(isOwn).map((one) => `'${functionName(one)}'`);
    const given = [
      'calls: CapabilityCaller',
      `own: Pick<${type}, ${own.join(' | ')}>`,
      ...(namespace === 'relayer' ? ['target: () => { relayerId: string }'] : []),
      'check: Check',
    ];
    const target = namespace === 'relayer' ? ['...target()'] : [];
    const members = functions.map((one) => {
      const name = functionName(one);
      return `  ${name}: ${isOwn(one) ? `own.${name}` : stubText(one, target)},`;
    });
    return `export const ${namespace}Object = (${given.join(', ')}): ${type} => ({\n${members.join('\n')}\n});\n`;
  });
  const types = OBJECTS.map(({ type }) => type);
  return [
    HEAD,
    "import type { CapabilityCaller } from './capability-calls.ts';",
    `import type { ${types.sort().join(', ')} } from './sdk/capabilities.ts';\n`,
    '/** Returns an argument. Throws when it was left out. */',
    'type Check = <T>(name: string, argument: T) => T;\n',
    ...makers,
  ].join('\n');
}

function stubText(capability: DeclaredCapability, target: readonly string[]): string {
  const given = argumentsOf(capability);
  const fields = given.map(({ name, isRequired }) => (isRequired ? `${name}: check('${name}', ${name})` : name));
  const params = [...target, ...fields].join(', ');
  const names = given.map(({ name }) => name).join(', ');
  return `(${names}) => calls.call('${capability.method}', () => (${params === '' ? '{}' : `{ ${params} }`}))`;
}

const isOwn = ({ signature }: DeclaredCapability) => signature !== undefined;

/** The name that authors know. */
function functionName({ method, signature = method.slice(method.indexOf('.') + 1) }: DeclaredCapability): string {
  return /^\w+/.exec(signature)?.[0] ?? '';
}

function functionsOf(namespace: string): DeclaredCapability[] {
  return CAPABILITIES.filter(({ method, about }) => method.startsWith(`${namespace}.`) && about !== undefined);
}

function signatureOf(capability: DeclaredCapability): string {
  const given = argumentsOf(capability).map(({ name, isRequired, type }) => `${name}${isRequired ? '' : '?'}: ${type}`);
  return `${functionName(capability)}(${given.join(', ')}): Promise<${typeOf(capability.result)}>`;
}

/** The parameters that a plugin gives. The object of a relayer knows the relayer. */
function argumentsOf({ params }: DeclaredCapability): { name: string; isRequired: boolean; type: string }[] {
  const { properties, required } = schemaOf(params);
  return Object.entries(isObject(properties) ? properties : {})
    .filter(([name]) => name !== 'relayerId')
    .map(([name, schema]) => ({
      ...{ name, type: typeText(schema) },
      isRequired: Array.isArray(required) && required.includes(name),
    }));
}

/** The type on one line, with names of fields as a person writes them. */
function typeOf(schema: z.ZodType): string {
  return typeText(schemaOf(schema)).replaceAll(/"(\w+)"(?=\??:)/g, '$1');
}

function schemaOf(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject;
}
