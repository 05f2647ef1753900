import { conformToWebIdl, makeIterable } from '../web-idl.ts';
import type { BlobClasses } from './blob.ts';

/** An entry's value: text, or a File of these classes. */
export type FormValue = string | InstanceType<BlobClasses['File']>;

/** The class FormData (XMLHttpRequest Standard 5) over these Blobs. */
export function createFormDataClass({ Blob, File }: BlobClasses) {
  let entriesIn: (form: FormData) => readonly [string, FormValue][];

  class FormData {
    declare readonly entries: () => IterableIterator<[string, FormValue]>;
    declare readonly keys: () => IterableIterator<string>;
    declare readonly values: () => IterableIterator<FormValue>;
    declare readonly forEach: (
      callback: (value: FormValue, name: string, form: FormData) => void,
      self?: unknown,
    ) => void;
    declare readonly [Symbol.iterator]: () => IterableIterator<[string, FormValue]>;
    #entries: [name: string, value: FormValue][] = [];

    static {
      entriesIn = (form) => form.#entries;
    }

    constructor(form?: unknown) {
      if (form !== undefined) throw new TypeError('There are no form elements here');
    }

    append(name: unknown, value: unknown, filename?: unknown): void {
      this.#entries.push([text(name), valueOf(value, filename)]);
    }

    delete(name: unknown): void {
      const wanted = text(name);
      this.#entries = this.#entries.filter(([other]) => other !== wanted);
    }

    get(name: unknown): FormValue | null {
      const wanted = text(name);
      return this.#entries.find(([other]) => other === wanted)?.[1] ?? null;
    }

    getAll(name: unknown): FormValue[] {
      const wanted = text(name);
      return this.#entries.filter(([other]) => other === wanted).map(([, value]) => value);
    }

    has(name: unknown): boolean {
      const wanted = text(name);
      return this.#entries.some(([other]) => other === wanted);
    }

    /** Sets the first entry of that name and drops the others. */
    set(name: unknown, value: unknown, filename?: unknown): void {
      const entry: [string, FormValue] = [text(name), valueOf(value, filename)];
      const first = this.#entries.findIndex(([other]) => other === entry[0]);
      if (first < 0) this.#entries.push(entry);
      else {
        this.#entries = this.#entries
          .with(first, entry)
          .filter(([other], index) => index <= first || other !== entry[0]);
      }
    }
  }

  conformToWebIdl(FormData, { required: { append: 2, delete: 1, get: 1, getAll: 1, has: 1, set: 2 } });
  makeIterable(FormData, (form) => entriesIn(form));
  return FormData;

  /** A Blob becomes a File, which takes the given name (XMLHttpRequest Standard 5, create an entry). */
  function valueOf(value: unknown, filename: unknown): FormValue {
    if (!(value instanceof Blob)) {
      if (filename !== undefined) throw new TypeError('Only a Blob takes a file name');
      return text(value);
    }
    if (value instanceof File && filename === undefined) return value;
    const lastModified = value instanceof File ? value.lastModified : undefined;
    return new File([value], filename === undefined ? 'blob' : text(filename), { type: value.type, lastModified });
  }
}

export type FormDataClass = ReturnType<typeof createFormDataClass>;

function text(value: unknown): string {
  return `${value as string}`.toWellFormed();
}
