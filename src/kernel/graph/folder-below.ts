// The folder in which a materia works: below that of the cast, whatever is cast, with no way up, no root and no template.
export const FOLDER_BELOW = /^(?!\/|~|[A-Za-z]:)(?!(?:.*\/)?\.\.(?:\/|$))[^\\{}\0]{1,1000}$/;
