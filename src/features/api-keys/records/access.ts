/** The settings that clients list, create and change in the same way, by their names in audit records and in paths. */
export const RESOURCE_PATHS = {
  notification: 'notifications',
  signer: 'signers',
  network: 'networks',
  api_key: 'api-keys',
} as const;

export type ResourceName = keyof typeof RESOURCE_PATHS;

type ResourcePath = (typeof RESOURCE_PATHS)[ResourceName];

const READ_WRITE = ['read', 'write'] as const;

/** The actions for each kind of resource. Each action also lets its key read the resource that it is done to. */
const ACTIONS = {
  relayers: ['read', 'send', 'sign', 'rpc', 'write'],
  plugins: ['read', 'call', 'calls', 'write'],
  ...(Object.fromEntries(Object.values(RESOURCE_PATHS).map((path) => [path, READ_WRITE])) as Record<
    ResourcePath,
    typeof READ_WRITE
  >),
  audit: ['read'],
  metrics: ['read'],
} as const;

export type AccessResource = keyof typeof ACTIONS;

/** The kinds of which a permission may name a single resource. */
const WITH_IDS: ReadonlySet<AccessResource> = new Set(['relayers', 'plugins']);

/** What a request needs: an action, done to one resource of a kind, or to the kind as a whole. */
export interface RequiredPermission {
  resource: AccessResource;
  action: string;
}

/** The parts of a permission; `*` stands for any. */
interface Permission {
  resource: AccessResource | '*';
  id: string;
  action: string;
}

const ANYTHING: Permission = { resource: '*', id: '*', action: '*' };

/** Whether a text is a permission, for instance `relayers:sepolia-1:send`, `plugins:*:call`, `metrics:read` or `*`. */
export function isPermission(text: string): boolean {
  return readPermission(text) !== undefined;
}

/** The valid forms of permissions, for the message about an invalid one. */
export function permissionForms(): string {
  const forms = Object.entries(ACTIONS).map(([name, actions]) => {
    const place = WITH_IDS.has(name as AccessResource) ? `${name}:<id>` : name;
    return `${place}:${actions.join('|')}`;
  });
  return `*, ${forms.join(', ')}, with * for any id or deed`;
}

/** The form of a permission, for the description of the API. */
export function permissionPattern(): string {
  const forms = Object.entries(ACTIONS).map(([name, actions]) => {
    const id = WITH_IDS.has(name as AccessResource) ? '([^:]+:)?' : '';
    return `${name}:${id}(${actions.join('|')}|\\*)`;
  });
  return `^(\\*|${forms.join('|')})$`;
}

function readPermission(text: string): Permission | undefined {
  if (text === '*') return ANYTHING;
  const parts = text.split(':');
  const [name = '', second = '', third] = parts;
  if (!Object.hasOwn(ACTIONS, name) || parts.length > 3) return undefined;
  const resource = name as AccessResource;
  if (third !== undefined && !WITH_IDS.has(resource)) return undefined;
  const [id, action] = third === undefined ? ['*', second] : [second, third];
  const isAction = action === '*' || (ACTIONS[resource] as readonly string[]).includes(action);
  return isAction && id !== '' ? { resource, id, action } : undefined;
}

/**
 * What an API key may do. A resource on which the key has no permission does not exist for it. The console uses this
 * class too, so nothing here needs a library.
 */
export class Access {
  readonly #permissions: readonly Permission[];

  /** @param permissions invalid ones are ignored */
  constructor(permissions: readonly string[]) {
    this.#permissions = permissions.flatMap((text) => readPermission(text) ?? []);
  }

  /** Whether the action may be done to one resource; without an id, to all resources of the kind, future ones too. */
  may(need: RequiredPermission, id = '*'): boolean {
    for (const one of this.#permissions) if (covers(one, need, id)) return true;
    return false;
  }

  /** Whether one resource exists for the key; without an id, whether any resource of the kind may exist for it. */
  sees(resource: AccessResource, id?: string): boolean {
    return this.#permissions.some(
      (one) =>
        (one.resource === '*' || one.resource === resource) && (id === undefined || one.id === '*' || one.id === id),
    );
  }

  /** The ids of a kind that exist for the key; undefined when all do. */
  idsOf(resource: AccessResource): string[] | undefined {
    const ids = this.#permissions
      .filter((one) => one.resource === '*' || one.resource === resource)
      .map(({ id }) => id);
    return ids.includes('*') ? undefined : [...new Set(ids)];
  }

  /**
   * The first given permission that goes beyond this access: nobody grants what they do not have. A permission that
   * cannot be read, as an older or newer version may have stored it, counts as `*`. So a key with `*` can take it away.
   */
  lacks(permissions: readonly string[]): string | undefined {
    return permissions.find((text) => {
      const wanted = readPermission(text) ?? ANYTHING;
      return !expanded(wanted).every((one) => this.#permissions.some((own) => covers(own, one, one.id)));
    });
  }
}

/** The id of the key that the environment gives. */
export const MASTER_KEY_ID = 'default';

/** The access of that key. */
export const FULL_ACCESS = new Access(['*']);

function covers(own: Permission, { resource, action }: Pick<Permission, 'resource' | 'action'>, id: string): boolean {
  if (own.resource !== '*' && own.resource !== resource) return false;
  if (own.id !== '*' && own.id !== id) return false;
  return own.action === '*' || own.action === action || action === 'read';
}

/** Splits a permission for any kind or action into one for each. */
function expanded(permission: Permission): Permission[] {
  const { resource, id, action } = permission;
  const resources = resource === '*' ? (Object.keys(ACTIONS) as AccessResource[]) : [resource];
  return resources.flatMap((name) =>
    (action === '*' ? ACTIONS[name] : [action]).map((one) => ({ resource: name, id, action: one })),
  );
}
