// What a witness throws where it cannot tell what a turn changes, and the turn must not go on without: the turn ends with it.
export class Unseen extends Error {}
