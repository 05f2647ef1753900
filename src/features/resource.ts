import type { z } from 'zod';
import type { BodyDescription } from '../chains/chain.ts';
import { AppError, ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { JsonObject, WireObject } from '../domain/json/json.ts';
import { writeJson } from '../domain/json/json-text.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { PlainKind } from '../store/settings-store.ts';
import type { Store, StoreReader, StoreWriter } from '../store/store.ts';
import type { ResourceName } from './api-keys/records/access.ts';
import type { Caller } from './api-keys/records/caller.ts';
import type { AuditedChange } from './audit/record.ts';
import { earlierEffect, inWriteOnce, type OnceResult, type WriteResult } from './recorded-effects.ts';
import type { RelayerUse } from './relayers/records/relayer.ts';
import { visibleRelayerUsers } from './relayers/records/relayer-users.ts';
import { parseBody } from './request-body.ts';
import type { SettingsFeed } from './settings-feed.ts';

/**
 * Settings of one kind, which clients list, get, create, update and delete. Bodies arrive unparsed, and answers are in
 * the wire format. Each change has an audit record.
 */
export interface ResourceService {
  list(page: PageRequest): Promise<Page<WireObject>>;
  /** 404. */
  get(id: string): Promise<WireObject>;
  /** 400; 409 for an id that is taken. */
  create(body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 400. */
  update(id: string, body: unknown, by: Caller): Promise<WireObject>;
  /** 404; 400 for what the configuration declares; 409 while relayers use it. */
  remove(id: string, by: Caller): Promise<void>;
}

/** The bodies that depend on the chain families or signer kinds. */
export interface FamilyBodies {
  /** The body that creates a signer. */
  signer: BodyDescription;
  /** The bodies that create and change a network. */
  networks: { create: BodyDescription; update: BodyDescription };
}

/** What the description of the API says of one operation, where it is not the same for every resource. */
interface OperationTexts {
  summary?: string;
  description?: string;
  /** What the answer is. */
  answer?: string;
  /** Errors beyond those that the operation has for every resource. */
  errors?: readonly ErrorCode[];
}

interface WithBody extends OperationTexts {
  body: (BodyDescription & { isOptional?: boolean }) | ((families: FamilyBodies) => BodyDescription);
}

/** A resource as it is declared. Its service, its operations and their description derive from this. */
export interface ResourceDeclaration<T, Deps> {
  name: ResourceName;
  /** Its name in summaries, where it is not the name in sentences. */
  title?: string;
  /** Its name in sentences. */
  noun: string;
  /** Absent: with an `s`. */
  nouns?: string;
  /** The group of its operations, and what the description says of the group. */
  tag: string;
  about: string;
  /** An id as examples have it. */
  exampleId: string;
  /** One of them in answers. */
  schema: z.ZodType;
  list: { answer: string };
  create: WithBody & { schema?: z.ZodType; answersSecret?: true };
  update: WithBody;
  remove: OperationTexts;
  /** Whether it is held in memory, and has to be read again after each change. */
  isCached?: true;
  /** How it is stored; absent: `on` has all hooks. */
  record?: PlainKind<T>;
  view(thing: T): WireObject;
  /** What is special about it. */
  on?(deps: Deps & ResourceDeps): Partial<ResourceHooks<T>>;
}

/** The thing as a write left it, and the fields that were changed and that no answer shows. */
export interface Written<T> {
  now: T;
  secrets?: readonly string[];
}

/** A change that was checked and may be written. */
interface Checked {
  /** Called after the commit, also of an earlier run of the same keyed request. */
  done?(): void | Promise<void>;
}

export interface CheckedCreation<T> extends Checked {
  id: string;
  /** Absent: whether the id is found. */
  isTaken?(read: StoreReader): Promise<boolean>;
  write(writer: StoreWriter): Promise<Written<T>>;
  /** Fields of this answer alone, which are never stored: no repeat can return them. */
  shownOnce?: JsonObject;
}

export interface CheckedUpdate<T> extends Checked {
  write(writer: StoreWriter, before: T): Promise<Written<T>>;
}

export interface ResourceHooks<T> {
  find(read: StoreReader, id: string): Promise<T | undefined>;
  list(read: StoreReader, page: PageRequest): Promise<Page<T>>;
  /** Its id in audit records; absent: the one in the path. */
  idOf?(thing: T): string;
  create(body: unknown, by: Caller): Promise<CheckedCreation<T>>;
  /** @param seen the thing before the change; 404 */
  update(body: unknown, by: Caller, seen: () => Promise<T>): Promise<CheckedUpdate<T>>;
  /** What relayers that use it have. They keep it from being deleted. */
  useOf?(thing: T): RelayerUse;
  /** Throws for what may not be deleted at all. */
  assertRemovable?(thing: T, by: Caller): void;
  remove(writer: StoreWriter, thing: T): Promise<unknown>;
}

/** What every resource needs. */
export interface ResourceDeps {
  store: Store;
  /** A new id (`domain/id.ts`). */
  newId(): string;
  feed?: Pick<SettingsFeed, 'changed'>;
}

/** A resource, with the function that makes its service. */
export interface Resource<Deps> extends Omit<ResourceDeclaration<never, Deps>, 'on' | 'record'> {
  record?: Pick<PlainKind<never>, 'table' | 'columns'>;
  open(deps: Deps & ResourceDeps): ResourceService;
}

export function resource<T, Deps = object>(declared: ResourceDeclaration<T, Deps>): Resource<Deps> {
  const { on, ...texts } = declared;
  return {
    ...texts,
    open(deps) {
      const hooks = { ...plainHooks(declared, deps), ...on?.(deps) };
      return serviceOf(declared, hooks as ResourceHooks<T>, deps);
    },
  };
}

/** The hooks of a resource that is as its bodies say, with nothing to check beside. */
function plainHooks<T>(
  { record, create, update }: Pick<ResourceDeclaration<T, never>, 'record' | 'create' | 'update'>,
  { newId }: ResourceDeps,
): Partial<ResourceHooks<T>> {
  if (record === undefined) return {};
  const put = async (writer: StoreWriter, thing: { id: string }) => {
    await writer.putPlainRecord(record, thing as T);
    return { now: (await writer.plainRecord(record, thing.id)) as T };
  };
  return {
    find: (read, id) => read.plainRecord(record, id),
    list: (read, page) => read.plainRecords(record, page),
    async create(body) {
      const { id, ...fields } = fieldsOf(create, body);
      const thing = { ...fields, id: typeof id === 'string' ? id : newId() };
      return { id: thing.id, write: (writer) => put(writer, thing) };
    },
    async update(body) {
      const change = fieldsOf(update, body);
      return { write: (writer, before) => put(writer, { ...(before as T & { id: string }), ...change }) };
    },
    remove: (writer, thing) => writer.deletePlainRecord(record, (thing as { id: string }).id),
  };
}

/** A body's fields by the names that its record has for them. Absent ones are left out. */
function fieldsOf({ body: described }: WithBody, body: unknown): Readonly<Record<string, unknown>> {
  if (typeof described === 'function') throw new TypeError('the body of a plain resource is the same for all families');
  const form = parseBody(described.schema, body) as Readonly<Record<string, unknown>>;
  const given = Object.entries(form).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]),
  );
}

type ErrorKind = 'NOT_FOUND' | 'EXISTS' | 'IN_USE';

/** The codes of a resource's own errors, those of them that it can have. */
export function resourceErrors(name: ResourceName, ...kinds: ErrorKind[]): ErrorCode[] {
  return kinds.map((kind) => `${name.toUpperCase()}_${kind}`).filter((code): code is ErrorCode => code in ERRORS);
}

function serviceOf<T>(
  { name, view, isCached }: Pick<ResourceDeclaration<T, never>, 'name' | 'view' | 'isCached'>,
  kind: ResourceHooks<T>,
  { store, feed }: ResourceDeps,
): ResourceService {
  const kinds: ErrorKind[] = ['NOT_FOUND', ...(kind.useOf === undefined ? [] : (['IN_USE'] as const))];
  const missing = kinds.map((what) => `${name.toUpperCase()}_${what}`).filter((code) => !(code in ERRORS));
  if (missing.length > 0) throw new Error(`src/domain/errors.ts lacks ${missing.join(' and ')}, which ${name} needs`);
  const error = (what: ErrorKind, details: { id: string; count?: string; relayers?: string }) =>
    new AppError(`${name.toUpperCase()}_${what}` as 'SIGNER_EXISTS', details);

  async function find(read: StoreReader, id: string): Promise<T> {
    const thing = await kind.find(read, id);
    if (thing === undefined) throw error('NOT_FOUND', { id });
    return thing;
  }

  function audited(
    action: AuditedChange['action'],
    id: string,
    { before = null, after = null, secrets = [] }: { before?: T | null; after?: T | null; secrets?: readonly string[] },
  ): AuditedChange {
    const one = after ?? before;
    const resourceId = one === null ? id : (kind.idOf?.(one) ?? id);
    const shown = (thing: T | null) => (thing === null ? null : view(thing));
    return { action, resource: name, resourceId, before: shown(before), after: shown(after), secrets };
  }

  return {
    async list(page) {
      const { items, total } = await kind.list(store.read, page);
      return { items: items.map(view), total };
    },

    async get(id) {
      return view(await find(store.read, id));
    },

    async create(body, by) {
      const { id, isTaken, write, done, shownOnce } = await kind.create(body, by);
      const written = await changeSettingsOnce(store, by, async (writer) => {
        const taken = isTaken === undefined ? (await kind.find(writer, id)) !== undefined : await isTaken(writer);
        if (taken) throw error('EXISTS', { id });
        const { now, secrets = [] } = await write(writer);
        const audit = audited('create', id, { after: now, secrets });
        return { outcome: shownOnce === undefined ? (audit.after as JsonObject) : null, audit };
      });
      if (shownOnce !== undefined && written.isRepeat) throw new AppError('ANSWER_NOT_KEPT', { status: '201' });
      if (isCached) await feed?.changed(name);
      await done?.();
      return shownOnce === undefined || written.isRepeat
        ? (written.made.outcome as WireObject)
        : { ...written.made.audit.after, ...shownOnce };
    },

    async update(id, body, by) {
      const earlier = await earlierEffect(store.read, by.effect);
      if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
      const { write, done } = await kind.update(body, by, () => find(store.read, id));
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        const before = await find(writer, id);
        const { now, secrets = [] } = await write(writer, before);
        const audit = audited('update', id, { before, after: now, secrets });
        return { outcome: audit.after as JsonObject, audit };
      });
      if (isCached) await feed?.changed(name);
      await done?.();
      return made.outcome as WireObject;
    },

    async remove(id, by) {
      await changeSettingsOnce(store, by, async (writer) => {
        const before = await find(writer, id);
        kind.assertRemovable?.(before, by);
        const using = kind.useOf === undefined ? [] : await writer.relayersWith(kind.useOf(before));
        if (using.length > 0) throw error('IN_USE', { id, ...visibleRelayerUsers(using, by) });
        await kind.remove(writer, before);
        return { outcome: null, audit: audited('delete', id, { before }) };
      });
      if (isCached) await feed?.changed(name);
    },
  };
}

/** A change of settings and its audit record. */
export interface SettingsChange extends WriteResult {
  audit: AuditedChange;
}

/**
 * Makes a change of settings and its audit record in one commit, once for each keyed request. The body's reads stay
 * valid until the commit: no other change of settings comes in between. A change without a difference has no record.
 */
export async function changeSettingsOnce<T extends SettingsChange>(
  store: Pick<Store, 'write'>,
  { keyId, requestId, effect }: Caller,
  body: (writer: StoreWriter) => Promise<T>,
): Promise<OnceResult<T>> {
  return await store.write(async (writer) => {
    await writer.lockSettings();
    return await inWriteOnce(writer, effect, async () => {
      const made = await body(writer);
      if (hasChanged(made.audit)) await writer.insertAuditRecord({ ...made.audit, keyId, requestId });
      return made;
    });
  });
}

function hasChanged({ before, after, secrets = [] }: AuditedChange): boolean {
  return secrets.length > 0 || writeJson(before) !== writeJson(after);
}
